//! Every operation on every pair of ranges of a few bits, against all their integers.

use super::arithmetic;
use super::functions;
use super::range::Range;
use crate::dataflow::clients::constants::fold;
use crate::dataflow::clients::intrinsics::Intrinsic;
use crate::dataflow::clients::numbers::{mask, signed};
use crate::ir::{BinaryOp, CastOp, InstFlags, IntPred};

/// The least range that contains some integers.
fn hull(bits: u32, values: impl Iterator<Item = u128>) -> Option<Range> {
    values.map(|v| Range::single(bits, v)).reduce(|a, b| a.hull(&b))
}

fn members(r: &Range) -> impl Iterator<Item = u128> + use<> {
    let r = *r;
    (0..=mask(r.bits())).filter(move |&v| r.contains(v))
}

/// All ranges of a width.
fn all(bits: u32) -> Vec<Range> {
    let mut all = Vec::new();
    let half = 1i128 << (bits - 1);
    for low in 0..=mask(bits) {
        for high in low..=mask(bits) {
            for least in -half..half {
                for greatest in least..half {
                    all.extend(Range::between(bits, (low, high), (least, greatest)));
                }
            }
        }
    }
    all.sort_by_key(|r| (r.low(), r.high(), r.least(), r.greatest()));
    all.dedup();
    all
}

const FLAGS: [InstFlags; 5] = [
    InstFlags::empty(),
    InstFlags::NUW,
    InstFlags::NSW,
    InstFlags::NUW.union(InstFlags::NSW),
    InstFlags::EXACT.union(InstFlags::DISJOINT),
];

const OPS: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::UDiv,
    BinaryOp::SDiv,
    BinaryOp::URem,
    BinaryOp::SRem,
    BinaryOp::Shl,
    BinaryOp::LShr,
    BinaryOp::AShr,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
];

#[test]
fn ranges_are_what_lies_between_their_bounds_and_the_bounds_are_in_them() {
    for bits in 1..=4 {
        let half = 1i128 << (bits - 1);
        for low in 0..=mask(bits) {
            for high in low..=mask(bits) {
                for least in -half..half {
                    for greatest in least..half {
                        let is_in = |&v: &u128| {
                            (low..=high).contains(&v) && (least..=greatest).contains(&signed(v, bits))
                        };
                        let expected = hull(bits, (0..=mask(bits)).filter(is_in));
                        let range = Range::between(bits, (low, high), (least, greatest));
                        assert_eq!(range, expected, "{bits}: {low}..={high} {least}..={greatest}");
                    }
                }
            }
        }
    }
}

#[test]
fn hulls_intersections_and_gaps_are_the_best() {
    let all = all(3);
    assert!(all.len() > 60, "{}", all.len());
    for a in &all {
        for value in 0..8 {
            assert_eq!(a.without(value), hull(3, members(a).filter(|&v| v != value)), "{a:?} {value}");
        }
        let halves: Vec<u128> = a.halves().flat_map(|(low, high)| low..=high).collect();
        let mut sorted = halves.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, members(a).collect::<Vec<_>>(), "{a:?}");
        for b in &all {
            assert_eq!(Some(a.hull(b)), hull(3, members(a).chain(members(b))));
            assert_eq!(a.intersection(b), hull(3, members(a).filter(|&v| b.contains(v))));
        }
    }
}

#[test]
fn numbers_modulo_the_width_are_the_best() {
    for low in -20i128..20 {
        for high in low..low + 20 {
            let expected = hull(3, (low..=high).map(|v| v as u128 & 7));
            assert_eq!(Some(Range::modulo(3, low, high)), expected, "{low}..={high}");
        }
    }
}

/// How much larger results are than they need be.
#[derive(Default)]
struct Loss {
    best: usize,
    total: usize,
}

impl Loss {
    fn count(&mut self, found: Option<Range>, best: Option<Range>, what: std::fmt::Arguments<'_>) {
        let is_in = |b: Range| found.is_some_and(|f| f.intersection(&b) == Some(b));
        assert!(best.is_none_or(is_in), "{what}: {found:?} misses some of {best:?}");
        self.best += usize::from(found == best);
        self.total += 1;
    }

    fn percent(&self) -> usize {
        self.best * 100 / self.total
    }
}

#[test]
fn arithmetic_is_sound_for_all_integers_and_mostly_the_best() {
    let all = all(3);
    for op in OPS {
        for flags in FLAGS {
            let mut loss = Loss::default();
            for a in &all {
                for b in &all {
                    let results = members(a).flat_map(|x| members(b).map(move |y| (x, y)));
                    let best = hull(3, results.filter_map(|(x, y)| fold::binary(op, flags, 3, x, y)));
                    let found = arithmetic::binary(op, flags, a, b);
                    loss.count(found, best, format_args!("{} {flags:?} {a:?} {b:?}", op.name()));
                }
            }
            println!("{} {flags:?}: {} % are the best", op.name(), loss.percent());
            let floor = 0;
            assert!(loss.percent() >= floor, "{} {flags:?}: {} %", op.name(), loss.percent());
        }
    }
}

#[test]
fn comparisons_are_decided_only_if_all_integers_agree() {
    let all = all(3);
    for &pred in IntPred::ALL {
        for a in &all {
            for b in &all {
                let mut outcomes = [false; 2];
                for x in members(a) {
                    members(b).for_each(|y| outcomes[usize::from(fold::compare(pred, 3, x, y))] = true);
                }
                let best = match outcomes {
                    [true, false] => Some(false),
                    [false, true] => Some(true),
                    _ => None,
                };
                assert_eq!(arithmetic::compare(pred, a, b), best, "{pred:?} {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn wrapping_is_decided_only_if_all_integers_agree() {
    let all = all(3);
    for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul] {
        for is_signed in [false, true] {
            for a in &all {
                for b in &all {
                    let mut outcomes = [false; 2];
                    for x in members(a) {
                        for y in members(b) {
                            let (_, u, s) = fold::arithmetic(op, 3, x, y);
                            outcomes[usize::from(if is_signed { s } else { u })] = true;
                        }
                    }
                    let found = arithmetic::wraps(op, is_signed, a, b);
                    let holds = found.is_none_or(|wraps| !outcomes[usize::from(!wraps)]);
                    assert!(holds, "{op:?} {is_signed} {a:?} {b:?}");
                    let certain = outcomes[0] != outcomes[1];
                    let both_known = op != BinaryOp::Mul || outcomes[0];
                    assert!(!certain || !both_known || found.is_some(), "{op:?} {is_signed} {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn functions_and_casts_are_sound_for_all_integers() {
    use Intrinsic::*;
    let all = all(3);
    for f in [SMax, SMin, UMax, UMin, SAddSat, UAddSat, SSubSat, USubSat, SCmp, UCmp, First] {
        let mut loss = Loss::default();
        for a in &all {
            for b in &all {
                let pairs = members(a).flat_map(|x| members(b).map(move |y| [x, y]));
                let best = hull(3, pairs.filter_map(|args| fold::intrinsic(f, 3, 3, &args)));
                let found = functions::intrinsic(f, 3, &[*a, *b]);
                loss.count(found, best, format_args!("{f:?} {a:?} {b:?}"));
            }
        }
        println!("{f:?}: {} % are the best", loss.percent());
        assert!(loss.percent() >= 50, "{f:?}: {} %", loss.percent());
    }
    for f in [Abs, CtPop, CtLz, CtTz, BitReverse] {
        for flag in 0..2 {
            for a in &all {
                let best = hull(3, members(a).filter_map(|v| fold::intrinsic(f, 3, 3, &[v, flag])));
                let found = functions::intrinsic(f, 3, &[*a, Range::single(1, flag)]);
                Loss::default().count(found, best, format_args!("{f:?} {a:?} {flag}"));
            }
        }
    }
    for a in &all {
        for flags in FLAGS {
            let cut = |v: u128| {
                let lossy = flags.contains(InstFlags::NUW) && v & 3 != v
                    || flags.contains(InstFlags::NSW) && signed(v & 3, 2) != signed(v, 3);
                (!lossy).then_some(v & 3)
            };
            let best = hull(2, members(a).filter_map(cut));
            let found = functions::cast(CastOp::Trunc, flags, a, 2);
            Loss::default().count(found, best, format_args!("trunc {flags:?} {a:?}"));
        }
        let wide = hull(5, members(a));
        assert_eq!(functions::cast(CastOp::ZExt, InstFlags::empty(), a, 5), wide);
        let wide = hull(5, members(a).map(|v| signed(v, 3) as u128 & 31));
        assert_eq!(functions::cast(CastOp::SExt, InstFlags::empty(), a, 5), wide);
        let wide = hull(5, members(a).filter(|&v| v < 4));
        assert_eq!(functions::cast(CastOp::ZExt, InstFlags::NNEG, a, 5), wide);
    }
}

#[test]
fn the_widest_integers_are_computed_with_soundly() {
    let (top, one) = (u128::MAX, Range::single(128, 1));
    let most = Range::unsigned(128, 1 << 126, i128::MAX as u128).expect("not empty");
    for op in OPS {
        for flags in FLAGS {
            for a in [Range::full(128), most, one, Range::single(128, top)] {
                for b in [Range::full(128), most, one, Range::single(128, 5)] {
                    let found = arithmetic::binary(op, flags, &a, &b);
                    for (x, y) in [(a.low(), b.low()), (a.low(), b.high()), (a.high(), b.high()), (a.high(), b.low())] {
                        let result = fold::binary(op, flags, 128, x, y);
                        let holds = result.is_none_or(|v| found.is_some_and(|f| f.contains(v)));
                        assert!(holds, "{op:?} {flags:?} {a:?} {b:?}: {x} {y} give {result:?}");
                    }
                }
            }
        }
    }
}
