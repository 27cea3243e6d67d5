//! Arithmetic on ranges: sound for all integers of the operands, flags and poison included. `None`: every outcome is
//! poison or undefined behaviour.
//!
//! Sums, differences and products are computed on exact numbers, once with each operand as signed and once as
//! unsigned, and then taken modulo the width; what all these ways agree on holds. Flags cut the exact result off
//! first.

use super::range::Range;
use crate::clients::constants::fold;
use crate::clients::numbers::{greatest, least, mask, unsigned};
use warpline_ir::{BinaryOp, InstFlags, IntPred};

/// An interval of exact numbers.
pub(super) type Exact = (i128, i128);

/// A range as exact unsigned numbers, if they are small enough to compute with.
pub(super) fn exact_unsigned(a: &Range) -> Option<Exact> {
    Some((i128::try_from(a.low()).ok()?, i128::try_from(a.high()).ok()?))
}

/// A range as exact signed numbers.
pub(super) fn exact_signed(a: &Range) -> Exact {
    (a.least(), a.greatest())
}

/// An operation on two integers of one width.
pub fn binary(op: BinaryOp, flags: InstFlags, a: &Range, b: &Range) -> Option<Range> {
    let bits = a.bits();
    if let (Some(x), Some(y)) = (a.only(), b.only()) {
        return fold::binary(op, flags, bits, x, y).map(|v| Range::single(bits, v));
    }
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => sum(op, flags, a, b),
        BinaryOp::UDiv => divide(a, b),
        BinaryOp::SDiv => divide_signed(a, b),
        BinaryOp::URem => remainder(a, b),
        BinaryOp::SRem => remainder_signed(a, b),
        BinaryOp::Shl => shift_left(flags, a, b),
        BinaryOp::LShr => {
            let (least, most) = shifts(b, bits)?;
            Range::unsigned(bits, a.low() >> most, a.high() >> least)
        }
        BinaryOp::AShr => {
            let (least, most) = shifts(b, bits)?;
            let low = (a.least() >> least).min(a.least() >> most);
            Range::signed(bits, low, (a.greatest() >> least).max(a.greatest() >> most))
        }
        BinaryOp::And => Some(by_halves(a, b, and_bounds)),
        BinaryOp::Xor => Some(by_halves(a, b, xor_bounds)),
        BinaryOp::Or => {
            let or = by_halves(a, b, or_bounds);
            if !flags.contains(InstFlags::DISJOINT) {
                return Some(or);
            }
            // Without a bit in common it is the sum, and nothing is carried.
            or.intersection(&sum(BinaryOp::Add, InstFlags::NUW | InstFlags::NSW, a, b)?)
        }
        _ => Some(Range::full(bits)),
    }
}

/// The exact results of a sum, difference or product; `None` if they are too large to compute with.
fn exact(op: BinaryOp, (a, b): Exact, (c, d): Exact) -> Option<Exact> {
    match op {
        BinaryOp::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        BinaryOp::Sub => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
        _ => {
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((*corners.iter().min()?, *corners.iter().max()?))
        }
    }
}

/// The same of numbers, those that are too large replaced by what is beyond every width that is computed with.
fn exact_or_beyond(op: BinaryOp, (a, b): Exact, (c, d): Exact) -> Exact {
    match op {
        BinaryOp::Add => (a.saturating_add(c), b.saturating_add(d)),
        BinaryOp::Sub => (a.saturating_sub(d), b.saturating_sub(c)),
        _ => {
            let corners =
                [a.saturating_mul(c), a.saturating_mul(d), b.saturating_mul(c), b.saturating_mul(d)];
            let [first, rest @ ..] = corners;
            rest.iter().fold((first, first), |(low, high), &v| (low.min(v), high.max(v)))
        }
    }
}

fn sum(op: BinaryOp, flags: InstFlags, a: &Range, b: &Range) -> Option<Range> {
    let bits = a.bits();
    let mut all = Range::full(bits);
    let (u, v) = (exact_unsigned(a), exact_unsigned(b));
    let (s, t) = (Some(exact_signed(a)), Some(exact_signed(b)));
    for (x, y) in [(u, v), (s, t), (u, t), (s, v)] {
        if let (Some(x), Some(y)) = (x, y)
            && let Some((low, high)) = exact(op, x, y)
        {
            all = all.intersection(&Range::modulo(bits, low, high))?;
        }
    }
    if flags.contains(InstFlags::NSW) {
        let (low, high) = exact_or_beyond(op, exact_signed(a), exact_signed(b));
        all = all.intersection(&Range::signed(bits, low, high)?)?;
    }
    if let (true, Some(x), Some(y)) = (flags.contains(InstFlags::NUW), u, v) {
        let (low, high) = exact_or_beyond(op, x, y);
        all = all.intersection(&cut_off(bits, low, high)?)?;
    }
    Some(all)
}

/// The numbers of an exact interval that are unsigned numbers of a width; a bound that was too large to compute with
/// is any.
fn cut_off(bits: u32, low: i128, high: i128) -> Option<Range> {
    let high = if high == i128::MAX { u128::MAX } else { u128::try_from(high).ok()? };
    Range::unsigned(bits, low.max(0) as u128, high)
}

/// Whether a sum, difference or product wraps; `None` if it may and may not.
pub fn wraps(op: BinaryOp, is_signed: bool, a: &Range, b: &Range) -> Option<bool> {
    let bits = a.bits();
    let (x, y, low, high) = if is_signed {
        (exact_signed(a), exact_signed(b), least(bits), greatest(bits))
    } else {
        let high = i128::try_from(mask(bits)).ok()?;
        (exact_unsigned(a)?, exact_unsigned(b)?, 0, high)
    };
    // Of a product only the corners are exact, which is enough: it is monotone in each operand.
    let (from, to) = exact_or_beyond(op, x, y);
    let is_beyond = |v: i128| v == i128::MIN || v == i128::MAX;
    if bits > 126 && (is_beyond(from) || is_beyond(to)) {
        return None;
    }
    if low <= from && to <= high {
        return Some(false);
    }
    (to < low || high < from).then_some(true)
}

/// The least and the greatest amount of a shift that is no poison.
fn shifts(by: &Range, bits: u32) -> Option<(u32, u32)> {
    let least = u32::try_from(by.low()).ok().filter(|&s| s < bits)?;
    Some((least, by.high().min(u128::from(bits) - 1) as u32))
}

fn shift_left(flags: InstFlags, a: &Range, b: &Range) -> Option<Range> {
    let bits = a.bits();
    let (from, to) = shifts(b, bits)?;
    if to >= 126 {
        return Some(Range::full(bits));
    }
    // A product with a power of two that is no number of the width itself, hence not `sum`.
    let by = (1i128 << from, 1i128 << to);
    let mut all = Range::full(bits);
    for x in [exact_unsigned(a), Some(exact_signed(a))].into_iter().flatten() {
        if let Some((low, high)) = exact(BinaryOp::Mul, x, by) {
            all = all.intersection(&Range::modulo(bits, low, high))?;
        }
    }
    if flags.contains(InstFlags::NSW) {
        let (low, high) = exact_or_beyond(BinaryOp::Mul, exact_signed(a), by);
        all = all.intersection(&Range::signed(bits, low, high)?)?;
    }
    if let (true, Some(x)) = (flags.contains(InstFlags::NUW), exact_unsigned(a)) {
        let (low, high) = exact_or_beyond(BinaryOp::Mul, x, by);
        all = all.intersection(&cut_off(bits, low, high)?)?;
    }
    // From one amount the low bits are zero, and the order of numbers is kept by none but these.
    if from == to && from > 0 {
        let step = mask(from);
        return Range::between(
            bits,
            (all.low(), all.high() & !step),
            (all.least(), all.greatest() & !(step as i128)),
        );
    }
    Some(all)
}

fn divide(a: &Range, b: &Range) -> Option<Range> {
    if b.high() == 0 {
        return None;
    }
    Range::unsigned(a.bits(), a.low() / b.high(), a.high() / b.low().max(1))
}

fn divide_signed(a: &Range, b: &Range) -> Option<Range> {
    let bits = a.bits();
    let mut all: Option<(i128, i128)> = None;
    let positive = (b.least().max(1), b.greatest());
    let negative = (b.least(), b.greatest().min(-1));
    for (from, to) in [positive, negative].into_iter().filter(|(from, to)| from <= to) {
        for (x, y) in [(a.least(), from), (a.least(), to), (a.greatest(), from), (a.greatest(), to)] {
            // The one quotient that does not fit is undefined; that of the next number is the greatest.
            let q = x.checked_div(y).unwrap_or(i128::MAX).min(greatest(bits));
            all = Some(all.map_or((q, q), |(low, high)| (low.min(q), high.max(q))));
        }
    }
    let (low, high) = all?;
    Range::signed(bits, low, high)
}

fn remainder(a: &Range, b: &Range) -> Option<Range> {
    if b.high() == 0 {
        return None;
    }
    if a.high() < b.low() {
        return Some(*a);
    }
    match b.only() {
        Some(by) if a.low() / by == a.high() / by => Range::unsigned(a.bits(), a.low() % by, a.high() % by),
        _ => Range::unsigned(a.bits(), 0, a.high().min(b.high() - 1)),
    }
}

fn remainder_signed(a: &Range, b: &Range) -> Option<Range> {
    let bits = a.bits();
    let size = |v: i128| v.unsigned_abs();
    let largest = size(b.least()).max(size(b.greatest()));
    if largest == 0 {
        return None;
    }
    let smallest = if b.least() > 0 {
        size(b.least())
    } else if b.greatest() < 0 {
        size(b.greatest())
    } else {
        1
    };
    if size(a.least()).max(size(a.greatest())) < smallest {
        return Some(*a);
    }
    // The sign is the dividend's.
    let at_most = |v: i128| size(v).min(largest - 1) as i128;
    let low = if a.least() < 0 { -at_most(a.least()) } else { 0 };
    let high = if a.greatest() > 0 { at_most(a.greatest()) } else { 0 };
    Range::signed(bits, low, high)
}

/// The least and the greatest result of a bitwise operation for operands in intervals of unsigned numbers.
type Bounds = fn(u32, (u128, u128), (u128, u128)) -> (u128, u128);

/// Applies bounds to each pair of halves, within which the sign of the result is known.
fn by_halves(a: &Range, b: &Range, bounds: Bounds) -> Range {
    let bits = a.bits();
    let pairs = a.halves().flat_map(|x| b.halves().map(move |y| (x, y)));
    let results = pairs.filter_map(|(x, y)| {
        let (low, high) = bounds(bits, x, y);
        Range::unsigned(bits, low, high)
    });
    results.reduce(|a, b| a.hull(&b)).unwrap_or(Range::full(bits))
}

/// The bits of a width from the highest down.
fn from_the_top(bits: u32) -> impl Iterator<Item = u128> {
    (0..bits).rev().map(|k| 1 << k)
}

/// Warren, *Hacker's Delight*, Section 4-3: raise one lower bound where that clears a bit that only the other has.
fn least_or(bits: u32, (mut a, b): (u128, u128), (mut c, d): (u128, u128)) -> u128 {
    for m in from_the_top(bits) {
        if !a & c & m != 0 {
            let raised = (a | m) & !(m - 1);
            if raised <= b {
                a = raised;
                break;
            }
        } else if a & !c & m != 0 {
            let raised = (c | m) & !(m - 1);
            if raised <= d {
                c = raised;
                break;
            }
        }
    }
    a | c
}

/// The same section: lower one upper bound where both have a bit, and have all bits below it instead.
fn greatest_or(bits: u32, (a, mut b): (u128, u128), (c, mut d): (u128, u128)) -> u128 {
    for m in from_the_top(bits) {
        if b & d & m != 0 {
            let lowered = (b - m) | (m - 1);
            if lowered >= a {
                b = lowered;
                break;
            }
            let lowered = (d - m) | (m - 1);
            if lowered >= c {
                d = lowered;
                break;
            }
        }
    }
    b | d
}

fn or_bounds(bits: u32, x: (u128, u128), y: (u128, u128)) -> (u128, u128) {
    (least_or(bits, x, y), greatest_or(bits, x, y))
}

fn complement(bits: u32, (a, b): (u128, u128)) -> (u128, u128) {
    (!b & mask(bits), !a & mask(bits))
}

/// By De Morgan from `or`.
fn and_bounds(bits: u32, x: (u128, u128), y: (u128, u128)) -> (u128, u128) {
    complement(bits, or_bounds(bits, complement(bits, x), complement(bits, y)))
}

/// Bits above the highest one in which the bounds of an operand differ are the operand's; below, anything may be. Not
/// the least bounds, but these cost no search.
fn xor_bounds(bits: u32, (a, b): (u128, u128), (c, d): (u128, u128)) -> (u128, u128) {
    let free = |v: u128| mask(128 - v.leading_zeros());
    let open = (free(a ^ b) | free(c ^ d)) & mask(bits);
    ((a ^ c) & !open, ((a ^ c) | open) & mask(bits))
}

/// Whether a comparison holds for all integers of the operands (`Some(true)`), or for none.
pub fn compare(pred: IntPred, a: &Range, b: &Range) -> Option<bool> {
    let (unsigned, signed) =
        ((a.low(), a.high(), b.low(), b.high()), (a.least(), a.greatest(), b.least(), b.greatest()));
    match pred {
        IntPred::Eq if a.intersection(b).is_none() => Some(false),
        IntPred::Eq => (a.only().is_some() && a == b).then_some(true),
        IntPred::Ne => compare(IntPred::Eq, a, b).map(|holds| !holds),
        IntPred::Ult => less(unsigned),
        IntPred::Slt => less(signed),
        IntPred::Uge => less(unsigned).map(|holds| !holds),
        IntPred::Sge => less(signed).map(|holds| !holds),
        IntPred::Ugt => compare(IntPred::Ult, b, a),
        IntPred::Sgt => compare(IntPred::Slt, b, a),
        IntPred::Ule => compare(IntPred::Uge, b, a),
        IntPred::Sle => compare(IntPred::Sge, b, a),
    }
}

/// Whether numbers of the first interval are less than those of the second.
fn less<T: Ord>((low, high, other_low, other_high): (T, T, T, T)) -> Option<bool> {
    if high < other_low {
        return Some(true);
    }
    (low >= other_high).then_some(false)
}

/// An exact interval as a range of numbers cut off at the width's bounds.
pub(super) fn saturated(bits: u32, is_signed: bool, (low, high): Exact) -> Range {
    let range = if is_signed {
        Range::signed(bits, low.clamp(least(bits), greatest(bits)), high.clamp(least(bits), greatest(bits)))
    } else {
        let cut = |v: i128| (v.max(0) as u128).min(mask(bits));
        Range::unsigned(bits, cut(low), cut(high))
    };
    range.unwrap_or(Range::full(bits))
}

/// The negative of a range's signed numbers, as unsigned numbers: of the least number that is itself.
pub(super) fn negated(a: &Range) -> Range {
    let bits = a.bits();
    Range::unsigned(
        bits,
        unsigned(a.greatest().wrapping_neg(), bits),
        unsigned(a.least().wrapping_neg(), bits),
    )
    .unwrap_or(Range::full(bits))
}
