//! Every operation on every pair of ranges of a few bits, against all their integers.

use super::range::Range;
use super::{arithmetic, functions, refine};
use crate::clients::constants::fold;
use crate::clients::intrinsics::Intrinsic;
use crate::clients::numbers::{mask, signed};
use warpline_ir::{BinaryOp, CastOp, InstFlags, IntPred};

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
            let floor = match op {
                _ if flags != InstFlags::empty() => 0,
                BinaryOp::And | BinaryOp::Or => 100,
                BinaryOp::Add | BinaryOp::Sub => 90,
                BinaryOp::Xor | BinaryOp::AShr => 80,
                BinaryOp::LShr | BinaryOp::SRem => 65,
                BinaryOp::UDiv => 50,
                _ => 30,
            };
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
                    for (x, y) in
                        [(a.low(), b.low()), (a.low(), b.high()), (a.high(), b.high()), (a.high(), b.low())]
                    {
                        let result = fold::binary(op, flags, 128, x, y);
                        let holds = result.is_none_or(|v| found.is_some_and(|f| f.contains(v)));
                        assert!(holds, "{op:?} {flags:?} {a:?} {b:?}: {x} {y} give {result:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn arithmetic_is_monotone_in_each_operand() {
    let all = all(3);
    let pairs: Vec<(Range, Range)> = all
        .iter()
        .flat_map(|a| all.iter().map(move |b| (*a, *b)))
        .filter(|(a, b)| a != b && a.intersection(b) == Some(*a))
        .collect();
    let inside = |a: Option<Range>, b: Option<Range>| match (a, b) {
        (Some(a), Some(b)) => a.intersection(&b) == Some(a),
        (a, _) => a.is_none(),
    };
    for op in OPS {
        for flags in [InstFlags::empty(), InstFlags::NUW | InstFlags::NSW | InstFlags::DISJOINT] {
            for (small, large) in &pairs {
                for other in all.iter().step_by(7) {
                    let (a, b) = (
                        arithmetic::binary(op, flags, small, other),
                        arithmetic::binary(op, flags, large, other),
                    );
                    assert!(inside(a, b), "{op:?} {flags:?} {small:?} {large:?} {other:?}: {a:?} {b:?}");
                    let (a, b) = (
                        arithmetic::binary(op, flags, other, small),
                        arithmetic::binary(op, flags, other, large),
                    );
                    assert!(inside(a, b), "{op:?} {flags:?} {other:?} {small:?} {large:?}: {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn widening_moves_bounds_outwards_to_the_same_place_whatever_was_there_before() {
    let mut func = warpline_ir::Function::new("f", warpline_ir::Type::Void);
    let x = func.add_param(warpline_ir::Type::Int(4), "x");
    let block = func.add_block("entry");
    let limit = func.int_const(4, 11);
    func.append(block, warpline_ir::Op::ICmp(IntPred::Ult), &[x, limit], warpline_ir::Type::BOOL);
    func.set_terminator(block, warpline_ir::Op::Ret, &[], &[]);
    let thresholds = super::thresholds::Thresholds::of(&func, []);
    let all = all(4);
    for a in &all {
        let wide = thresholds.widen(a);
        assert_eq!(wide.intersection(a), Some(*a), "{a:?}");
        assert_eq!(thresholds.widen(&wide), wide, "{a:?}");
        for b in all.iter().filter(|b| b.intersection(a) == Some(**b)) {
            assert_eq!(thresholds.widen(b).intersection(&wide), Some(thresholds.widen(b)), "{a:?} {b:?}");
        }
    }
    let from = |low, high| Range::unsigned(4, low, high).expect("not empty");
    assert_eq!(thresholds.widen(&from(0, 9)), from(0, 10));
    assert_eq!(thresholds.widen(&from(0, 10)), from(0, 10));
    assert_eq!(thresholds.widen(&from(2, 3)), from(1, 7));
}

#[test]
fn conditions_take_nothing_away_that_satisfies_them() {
    let all = all(3);
    for a in &all {
        for b in &all {
            for &pred in IntPred::ALL {
                let pairs = || {
                    let pairs = members(a).flat_map(|x| members(b).map(move |y| (x, y)));
                    pairs.filter(|&(x, y)| fold::compare(pred, 3, x, y))
                };
                let told = refine::compared(pred, a, b);
                assert_eq!(told.is_none(), pairs().next().is_none(), "{pred:?} {a:?} {b:?}");
                let Some([x, y]) = told else { continue };
                for (u, v) in pairs() {
                    assert!(x.contains(u) && y.contains(v), "{pred:?} {a:?} {b:?}: {u} {v}");
                }
            }
            for (op, is_signed) in [(BinaryOp::Add, false), (BinaryOp::Add, true), (BinaryOp::Sub, false)] {
                for result in all.iter().step_by(9) {
                    let told = refine::exact(op, is_signed, [result, a, b]);
                    for (x, y) in members(a).flat_map(|x| members(b).map(move |y| (x, y))) {
                        let (sum, u, s) = fold::arithmetic(op, 3, x, y);
                        let holds = result.contains(sum) && !if is_signed { s } else { u };
                        let kept =
                            told.is_some_and(|t| t[0].contains(sum) && t[1].contains(x) && t[2].contains(y));
                        assert!(!holds || kept, "{op:?} {result:?} {a:?} {b:?}: {x} {y}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_known_of_a_result_takes_nothing_away_from_what_it_was_made_from() {
    use warpline_ir::{Function, Op, Type};
    let int = Op::Binary;
    let cases: [(Op, InstFlags, Option<u128>, u32); 11] = [
        (int(BinaryOp::Add), InstFlags::empty(), Some(3), 3),
        (int(BinaryOp::Add), InstFlags::NUW, Some(3), 3),
        (int(BinaryOp::Sub), InstFlags::empty(), Some(3), 3),
        (int(BinaryOp::Xor), InstFlags::empty(), Some(5), 3),
        (int(BinaryOp::Or), InstFlags::DISJOINT, Some(2), 3),
        (int(BinaryOp::LShr), InstFlags::empty(), Some(1), 3),
        (int(BinaryOp::UDiv), InstFlags::empty(), Some(3), 3),
        (Op::Cast(CastOp::ZExt), InstFlags::empty(), None, 4),
        (Op::Cast(CastOp::SExt), InstFlags::empty(), None, 4),
        (Op::Cast(CastOp::Trunc), InstFlags::NUW, None, 2),
        (Op::Cast(CastOp::Trunc), InstFlags::NSW, None, 2),
    ];
    for (op, flags, constant, to) in cases {
        for swapped in [false, true] {
            let mut func = Function::new("f", Type::Void);
            let x = func.add_param(Type::Int(3), "x");
            let block = func.add_block("entry");
            let mut args = vec![x];
            args.extend(constant.map(|c| func.int_const(3, c)));
            if swapped {
                args.reverse();
            }
            let inst = func.append(block, op.clone(), &args, Type::Int(to));
            func.insts[inst].flags = flags;
            let result = func.insts[inst].results[0];
            let apply = |v: u128| match (&op, constant) {
                (Op::Binary(op), Some(c)) if swapped => fold::binary(*op, flags, 3, c, v),
                (Op::Binary(op), Some(c)) => fold::binary(*op, flags, 3, v, c),
                (Op::Cast(CastOp::ZExt), _) => Some(v),
                (Op::Cast(CastOp::SExt), _) => Some(signed(v, 3) as u128 & 15),
                _ if flags == InstFlags::NUW => (v < 4).then_some(v),
                _ => (-2..2).contains(&signed(v, 3)).then_some(v & 3),
            };
            let mut said = 0;
            for of in &all(3) {
                for known in &all(to) {
                    let told = refine::made_from(&func, result, known, x, of);
                    said += usize::from(told != Some(*of));
                    for v in members(of).filter(|&v| apply(v).is_some_and(|r| known.contains(r))) {
                        let kept = told.is_some_and(|t| t.contains(v));
                        assert!(kept, "{op:?} {flags:?} {swapped} {known:?} {of:?}: {v}");
                    }
                }
            }
            let shifts = matches!(op, Op::Binary(BinaryOp::LShr | BinaryOp::UDiv)) && swapped;
            assert!(said > 0 || shifts, "{op:?} {flags:?} tells nothing");
        }
    }
}
