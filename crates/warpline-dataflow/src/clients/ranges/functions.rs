//! Conversions of ranges, and LLVM's functions on integers.

use super::arithmetic::{self, exact_signed, exact_unsigned, negated, saturated};
use super::range::Range;
use crate::clients::constants::fold;
use crate::clients::intrinsics::Intrinsic;
use crate::clients::numbers::{greatest, mask, signed, unsigned};
use warpline_ir::{BinaryOp, CastOp, InstFlags, IntPred};

/// A conversion between integers of different widths; `None` if every outcome is poison. Others give all integers.
pub fn cast(op: CastOp, flags: InstFlags, a: &Range, to: u32) -> Option<Range> {
    match op {
        CastOp::Trunc => {
            let mut all = Range::modulo(to, a.least(), a.greatest());
            if let Some((low, high)) = exact_unsigned(a) {
                all = all.intersection(&Range::modulo(to, low, high))?;
            }
            if flags.contains(InstFlags::NUW) {
                all = all.intersection(&Range::unsigned(to, a.low(), a.high())?)?;
            }
            if flags.contains(InstFlags::NSW) {
                all = all.intersection(&Range::signed(to, a.least(), a.greatest())?)?;
            }
            Some(all)
        }
        CastOp::ZExt if flags.contains(InstFlags::NNEG) => {
            let a = a.intersection(&Range::signed(a.bits(), 0, i128::MAX)?)?;
            Range::unsigned(to, a.low(), a.high())
        }
        CastOp::ZExt => Range::unsigned(to, a.low(), a.high()),
        CastOp::SExt => {
            let wide = |v: u128| unsigned(signed(v, a.bits()), to);
            let halves = a.halves().filter_map(|(low, high)| Range::unsigned(to, wide(low), wide(high)));
            halves.reduce(|x, y| x.hull(&y))
        }
        _ => Some(Range::full(to)),
    }
}

/// A function of one or two integers with an integer of `to` bits as its result; `None` if every outcome is poison.
/// `args` are its integer operands.
pub fn intrinsic(f: Intrinsic, to: u32, args: &[Range]) -> Option<Range> {
    let full = Range::full(to);
    let Some(a) = args.first() else { return Some(full) };
    let b = args.get(1).unwrap_or(a);
    let bits = a.bits();
    if args.iter().all(|r| r.only().is_some()) && (f != Intrinsic::BSwap || bits.is_multiple_of(16)) {
        let values: smallvec::SmallVec<[u128; 3]> = args.iter().filter_map(Range::only).collect();
        return fold::intrinsic(f, bits, to, &values).map(|v| Range::single(to, v));
    }
    match f {
        Intrinsic::SMax | Intrinsic::SMin | Intrinsic::UMax | Intrinsic::UMin => choice(f, a, b),
        Intrinsic::SAddSat | Intrinsic::SSubSat | Intrinsic::UAddSat | Intrinsic::USubSat => {
            saturating(f, a, b)
        }
        Intrinsic::SCmp => order(IntPred::Slt, IntPred::Sgt, to, a, b),
        Intrinsic::UCmp => order(IntPred::Ult, IntPred::Ugt, to, a, b),
        Intrinsic::Abs => absolute(a, b.only() == Some(1)),
        Intrinsic::CtPop => {
            // As many bits as all ones below the highest that may be set.
            let most = 128 - a.high().leading_zeros();
            Range::unsigned(to, u128::from(a.low() > 0), u128::from(most))
        }
        Intrinsic::CtLz | Intrinsic::CtTz => zeros(f, to, a, b.only() == Some(1)),
        Intrinsic::First => Some(*a),
        _ => Some(full),
    }
}

/// The greater or smaller of two numbers: one of both, and between the bounds in its order.
fn choice(f: Intrinsic, a: &Range, b: &Range) -> Option<Range> {
    let bits = a.bits();
    let in_order = match f {
        Intrinsic::SMax => Range::signed(bits, a.least().max(b.least()), a.greatest().max(b.greatest())),
        Intrinsic::SMin => Range::signed(bits, a.least().min(b.least()), a.greatest().min(b.greatest())),
        Intrinsic::UMax => Range::unsigned(bits, a.low().max(b.low()), a.high().max(b.high())),
        _ => Range::unsigned(bits, a.low().min(b.low()), a.high().min(b.high())),
    }?;
    // An operand that is never chosen says nothing.
    let chosen = match f {
        Intrinsic::SMax | Intrinsic::UMax => arithmetic::compare(pred_of(f), b, a),
        _ => arithmetic::compare(pred_of(f), a, b),
    };
    match chosen {
        Some(true) => Some(*a),
        _ => in_order.intersection(&a.hull(b)),
    }
}

/// The strict order of a maximum or minimum.
fn pred_of(f: Intrinsic) -> IntPred {
    if matches!(f, Intrinsic::SMax | Intrinsic::SMin) { IntPred::Slt } else { IntPred::Ult }
}

fn saturating(f: Intrinsic, a: &Range, b: &Range) -> Option<Range> {
    let bits = a.bits();
    let op = if matches!(f, Intrinsic::SAddSat | Intrinsic::UAddSat) { BinaryOp::Add } else { BinaryOp::Sub };
    let is_signed = matches!(f, Intrinsic::SAddSat | Intrinsic::SSubSat);
    if bits > 126 {
        return Some(Range::full(bits));
    }
    let (x, y) = match is_signed {
        true => (exact_signed(a), exact_signed(b)),
        false => (exact_unsigned(a)?, exact_unsigned(b)?),
    };
    let exact = match op {
        BinaryOp::Add => (x.0 + y.0, x.1 + y.1),
        _ => (x.0 - y.1, x.1 - y.0),
    };
    Some(saturated(bits, is_signed, exact))
}

/// −1, 0 or 1 by how two numbers compare.
fn order(less: IntPred, greater: IntPred, to: u32, a: &Range, b: &Range) -> Option<Range> {
    let low = match (arithmetic::compare(less, a, b), arithmetic::compare(greater, a, b)) {
        (Some(false), Some(true)) => 1,
        (Some(false), _) => 0,
        _ => -1,
    };
    let high = match (arithmetic::compare(less, a, b), arithmetic::compare(greater, a, b)) {
        (Some(true), _) => -1,
        (_, Some(false)) => 0,
        _ => 1,
    };
    // In one bit, 1 and −1 are the same number.
    if to < 2 { Some(Range::full(to)) } else { Range::signed(to, low, high) }
}

fn absolute(a: &Range, least_is_poison: bool) -> Option<Range> {
    let bits = a.bits();
    let above = Range::signed(bits, 0, greatest(bits)).and_then(|half| a.intersection(&half));
    let below = Range::signed(bits, i128::MIN, -1).and_then(|half| a.intersection(&half));
    let all = match (above, below.map(|half| negated(&half))) {
        (Some(x), Some(y)) => x.hull(&y),
        (x, y) => x.or(y)?,
    };
    if least_is_poison { all.intersection(&Range::signed(bits, 0, greatest(bits))?) } else { Some(all) }
}

/// Leading or trailing zeros.
fn zeros(f: Intrinsic, to: u32, a: &Range, zero_is_poison: bool) -> Option<Range> {
    let bits = a.bits();
    let a = if zero_is_poison { a.without(0)? } else { *a };
    let leading = |v: u128| u128::from(v.leading_zeros() + bits - 128);
    let range = match f {
        Intrinsic::CtLz => (leading(a.high()), leading(a.low())),
        _ if a.low() > 0 => (0, u128::from(127 - a.high().leading_zeros())),
        _ => (0, u128::from(bits)),
    };
    // The result may have fewer bits than the number of zeros needs.
    if range.1 > mask(to) { Some(Range::full(to)) } else { Range::unsigned(to, range.0, range.1) }
}

/// The result of a function `llvm.*.with.overflow`, and whether it wraps.
pub fn with_overflow(op: BinaryOp, is_signed: bool, a: &Range, b: &Range) -> [Option<Range>; 2] {
    let wraps = arithmetic::wraps(op, is_signed, a, b);
    [arithmetic::binary(op, InstFlags::empty(), a, b), Some(Range::truth(wraps))]
}

/// The flag under which an operation does not wrap.
pub fn no_wrap(is_signed: bool) -> InstFlags {
    if is_signed { InstFlags::NSW } else { InstFlags::NUW }
}
