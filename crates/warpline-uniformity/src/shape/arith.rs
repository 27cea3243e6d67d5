//! How integer instructions change shapes.
//!
//! Notation in the proofs: *x_ℓ* is the value of lane ℓ, *x_g* the ghost, *s* the step, all lanes active and not
//! poison in the result (then no operand of an arithmetic instruction is poison either). "Exact" is meant for
//! the unsigned or the signed reading, as the flag in question says.
//!
//! Two facts carry almost everything. Modulo 2^N, +, − and multiplication by a constant are linear, for
//! the lanes and for the ghost, whatever wraps. And if the instruction does not wrap in the lanes and the operands
//! are exact, the result is exact: differences add up in ℤ. That the *ghost* does not wrap either needs an
//! argument of its own, since flags say nothing of it: with S_ℓ = S_g + ℓ·s the result in ℤ, and some active
//! lane ℓ ≥ 0, a step s ≥ 0 gives S_g ≤ S_ℓ ≤ max, and a step s ≤ 0 gives S_g ≥ S_ℓ ≥ min. The other bound must
//! come from the operands ([`Bounds`]).

use super::{Exact, Shape, Stepping, Stride};
use warpline_ir::{BinaryOp, CastOp, InstFlags, IntPred};

/// An integer operand as far as shapes are concerned.
#[derive(Copy, Clone, Debug)]
pub struct Num {
    /// Its shape.
    pub shape: Shape,
    /// Its value, zero-extended, if it is a constant of at most 128 bits.
    pub constant: Option<u128>,
    /// How many of its low bits are known to be zero, in every lane and in the ghost.
    pub zeros: u32,
}

impl Num {
    /// An operand of which only the shape is known.
    pub fn of(shape: Shape) -> Num {
        Num { shape, constant: None, zeros: 0 }
    }

    fn as_signed(self, width: u32) -> Option<i128> {
        let c = self.constant?;
        (width <= 128).then(|| ((c << (128 - width)) as i128) >> (128 - width))
    }

    fn as_unsigned(self) -> Option<i128> {
        i128::try_from(self.constant?).ok()
    }
}

/// What the operands' ranges alone say about the ghost's result in ℤ.
#[derive(Copy, Clone)]
struct Bounds {
    /// It is not below the type's minimum.
    lower: bool,
    /// It is not above the type's maximum.
    upper: bool,
}

/// The exact step of a result that does not wrap in the lanes: `step` in ℤ, from operands that are exact as
/// far as `operands` says.
fn exact_step(step: Option<i128>, operands: Exact, bounds: Bounds) -> Option<(i128, Exact)> {
    let step = step?;
    match operands {
        Exact::No => None,
        Exact::Ghost if (bounds.lower || step <= 0) && (bounds.upper || step >= 0) => {
            Some((step, Exact::Ghost))
        }
        _ => Some((step, Exact::Lanes)),
    }
}

/// The shape of `op a, b` on integers of `width` bits.
pub fn binary(op: BinaryOp, flags: InstFlags, width: u32, a: Num, b: Num) -> Shape {
    if a.shape.is_uniform() && b.shape.is_uniform() {
        return Shape::Uniform;
    }
    if a.shape.is_varying() || b.shape.is_varying() {
        return Shape::Varying;
    }
    match op {
        BinaryOp::Add => sum(width, a, b, flags),
        BinaryOp::Or if flags.contains(InstFlags::DISJOINT) => {
            // No bit set in both: no carry, so neither unsigned nor signed wrap; the ghost is taken by `add`.
            let s = sum(width, a, b, InstFlags::NUW | InstFlags::NSW);
            if s.is_varying() { low_bits(op, flags, width, a, b) } else { s }
        }
        BinaryOp::Sub => difference(width, a, b, flags),
        BinaryOp::Mul => match (a.constant, b.constant) {
            (_, Some(_)) => scaled(width, a, b.as_signed(width), b.as_unsigned(), flags),
            (Some(_), _) => scaled(width, b, a.as_signed(width), a.as_unsigned(), flags),
            _ => Shape::Varying,
        },
        BinaryOp::Shl => match shift(width, b) {
            // x << c is x·2^c, in both readings: `nsw` compares all lost bits with the result's sign.
            Some(c) => {
                let factor = 1i128.checked_shl(c).filter(|&f| f > 0);
                scaled(width, a, factor, factor, flags)
            }
            None => Shape::Varying,
        },
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => low_bits(op, flags, width, a, b),
        BinaryOp::LShr | BinaryOp::AShr => match shift(width, b) {
            Some(c) => match 1i128.checked_shl(c).filter(|&d| d > 0) {
                Some(d) => quotient(width, a, d, op == BinaryOp::AShr, flags),
                None => Shape::Varying,
            },
            None => Shape::Varying,
        },
        BinaryOp::UDiv => match b.as_unsigned() {
            Some(d) => quotient(width, a, d, false, flags),
            None => Shape::Varying,
        },
        // Rounds towards zero, not downwards: linear only without a remainder.
        BinaryOp::SDiv if flags.contains(InstFlags::EXACT) => match b.as_signed(width) {
            // Not by −1: the ghost's quotient could trap.
            Some(d) if d > 0 => quotient(width, a, d, true, flags),
            _ => Shape::Varying,
        },
        BinaryOp::URem => remainder(width, a, b),
        _ => Shape::Varying,
    }
}

/// The shift amount, if it is a constant that does not shift everything out.
fn shift(width: u32, amount: Num) -> Option<u32> {
    amount.constant.filter(|&c| c < u128::from(width)).map(|c| c as u32)
}

fn steps(s: Shape) -> i128 {
    s.step().map_or(0, i128::from)
}

/// Neither operand may generate poison, and the flags none.
fn whole(a: Num, b: Num, flags: InstFlags) -> bool {
    let generating = InstFlags::NUW | InstFlags::NSW | InstFlags::EXACT | InstFlags::DISJOINT;
    a.shape.whole() && b.shape.whole() && !flags.intersects(generating)
}

fn sum(width: u32, a: Num, b: Num, flags: InstFlags) -> Shape {
    let step = steps(a.shape) + steps(b.shape);
    let constant = a.as_signed(width).or(b.as_signed(width));
    // Unsigned: a sum of two non-negative numbers. Signed: adding c ≥ 0 does not leave the range downwards.
    let unsigned = Bounds { lower: true, upper: constant == Some(0) };
    let signed = Bounds { lower: constant.is_some_and(|c| c >= 0), upper: constant.is_some_and(|c| c <= 0) };
    linear(width, step, [a, b], flags, unsigned, signed)
}

fn difference(width: u32, a: Num, b: Num, flags: InstFlags) -> Shape {
    let step = steps(a.shape) - steps(b.shape);
    // x − c: c ≤ 0 does not leave the range downwards, c ≥ 0 not upwards. c − x: at least c − max, which is in
    // range for c ≥ −1, and at most c − min, for c ≤ −1.
    let (lower, upper) = match (a.as_signed(width), b.as_signed(width)) {
        (_, Some(c)) => (c <= 0, c >= 0),
        (Some(c), None) => (c >= -1, c <= -1),
        (None, None) => (false, false),
    };
    let unsigned = Bounds { lower: b.constant == Some(0), upper: true };
    linear(width, step, [a, b], flags, unsigned, Bounds { lower, upper })
}

/// A sum or difference with this step, and what is known of the bounds of the two readings where it does not wrap.
fn linear(
    width: u32,
    step: i128,
    [a, b]: [Num; 2],
    flags: InstFlags,
    unsigned: Bounds,
    signed: Bounds,
) -> Shape {
    let exact =
        |flag, operands, bounds| flags.contains(flag).then(|| exact_step(Some(step), operands, bounds));
    let unsigned = exact(InstFlags::NUW, a.shape.unsigned().min(b.shape.unsigned()), unsigned);
    let signed = exact(InstFlags::NSW, a.shape.signed().min(b.shape.signed()), signed);
    Stepping {
        step,
        unsigned: unsigned.flatten(),
        signed: signed.flatten(),
        anchored: a.shape.anchored() && b.shape.anchored(),
        whole: whole(a, b, flags),
    }
    .shape(width)
}

/// `x · c` for a constant, given in both readings where they fit.
fn scaled(width: u32, x: Num, signed_c: Option<i128>, unsigned_c: Option<i128>, flags: InstFlags) -> Shape {
    let s = steps(x.shape);
    // Above 64 bits the step is kept in ℤ, so overflow gives it up; up to 64 bits both factors fit 64 bits.
    let Some(step) = signed_c.and_then(|c| s.checked_mul(c)) else { return Shape::Varying };
    let unsigned = flags.contains(InstFlags::NUW).then(|| {
        let exact = unsigned_c.and_then(|c| s.checked_mul(c));
        exact_step(exact, x.shape.unsigned(), Bounds { lower: true, upper: false })
    });
    let signed = flags.contains(InstFlags::NSW).then(|| {
        exact_step(
            Some(step),
            x.shape.signed(),
            Bounds { lower: signed_c == Some(1), upper: signed_c == Some(1) },
        )
    });
    Stepping {
        step,
        unsigned: unsigned.flatten(),
        signed: signed.flatten(),
        anchored: x.shape.anchored(),
        whole: whole(x, x, flags),
    }
    .shape(width)
}

/// `and`, `or` and `xor` with a constant c that meets only bits in which all lanes (and the ghost, if anchored) agree.
///
/// Let k be the number of low bits that agree: those that divide the step, x_ℓ ≡ x_j (mod 2^k), and those that are
/// known to be zero. Write x = h + r with r the low k bits; r is the same in all lanes.
/// * c < 2^k: `and` gives r & c, uniform. `or` and `xor` give h + (r op c): x plus a number that is the same in
///   all lanes, that does not wrap in either reading since only low bits change. So the shape stays.
/// * c = −2^m with m ≤ k: `and` gives x − (r mod 2^m): the shape stays, likewise.
/// * c = −1: `xor` gives −1 − x, in both readings (2^N − 1 − x for the unsigned one).
fn low_bits(op: BinaryOp, flags: InstFlags, width: u32, a: Num, b: Num) -> Shape {
    let (x, c) = match (a.constant, b.constant) {
        (_, Some(c)) => (a, c),
        (Some(c), _) => (b, c),
        _ => return Shape::Varying,
    };
    let Shape::Strided(s) = x.shape else { return Shape::Varying };
    if width > 128 {
        return Shape::Varying;
    }
    let all = u128::MAX >> (128 - width);
    let agree = s.step.trailing_zeros().max(x.zeros).min(width);
    let below = 128 - c.leading_zeros() <= agree && agree < width;
    let keeps = Shape::Strided(Stride { whole: whole(x, x, flags), ..s });
    match op {
        BinaryOp::And if below && s.anchored && s.whole => Shape::Uniform,
        BinaryOp::And if c.trailing_zeros() <= agree && c | low_ones(c.trailing_zeros()) == all => keeps,
        BinaryOp::Or | BinaryOp::Xor if below => keeps,
        BinaryOp::Xor if c == all => Stepping {
            step: -i128::from(s.step),
            unsigned: Some((-i128::from(s.step), s.unsigned)),
            signed: Some((-i128::from(s.step), s.signed)),
            anchored: s.anchored,
            whole: s.whole,
        }
        .shape(width),
        _ => Shape::Varying,
    }
}

fn low_ones(n: u32) -> u128 {
    if n >= 128 { u128::MAX } else { (1 << n) - 1 }
}

/// ⌊x / d⌋ for a constant d that divides the step, or x / d where that leaves no remainder. With x exact, x_ℓ = x_j +
/// (ℓ−j)·s, and so ⌊x_ℓ/d⌋ = ⌊x_j/d⌋ + (ℓ−j)·s/d. The same holds for the ghost if it is exact; if x is exact in the
/// lanes only, the ghost of the quotient is unrelated to them. A ghost of an `exact` division has no remainder
/// either: x_g ≡ x_ℓ (mod d).
fn quotient(width: u32, x: Num, d: i128, signed: bool, flags: InstFlags) -> Shape {
    let Shape::Strided(s) = x.shape else { return Shape::Varying };
    let exact = if signed { s.signed } else { s.unsigned };
    let step = i128::from(s.step);
    if d == 0 || exact == Exact::No || step % d != 0 {
        return Shape::Varying;
    }
    let step = step / d;
    // An unsigned quotient by at least 2 is below half of the range: both readings agree on it.
    let (unsigned, signed) = match (signed, d) {
        (false, 1) => (s.unsigned, s.signed),
        (false, _) => (exact, exact),
        (true, 1) => (s.unsigned, s.signed),
        (true, _) => (Exact::No, exact),
    };
    Stepping {
        step,
        unsigned: Some((step, unsigned)).filter(|e| e.1 != Exact::No),
        signed: Some((step, signed)).filter(|e| e.1 != Exact::No),
        anchored: exact == Exact::Ghost || (d == 1 && s.anchored),
        whole: s.whole && !flags.contains(InstFlags::EXACT),
    }
    .shape(width)
}

/// `urem x, d`: uniform if d divides the step and the difference of two lanes is exact, or if d is a power of
/// two (then congruence modulo 2^N is enough).
fn remainder(width: u32, a: Num, b: Num) -> Shape {
    let (Shape::Strided(s), Some(d)) = (a.shape, b.as_unsigned()) else { return Shape::Varying };
    let related = s.unsigned == Exact::Ghost || (d > 0 && d & (d - 1) == 0 && s.anchored);
    if d > 0 && width <= 128 && related && s.whole && i128::from(s.step) % d == 0 {
        Shape::Uniform
    } else {
        Shape::Varying
    }
}

/// The shape of `icmp pred a, b` on integers of `width` bits, or on pointers with address arithmetic of that width.
///
/// Two values with the same step keep their distance: modulo 2^N, which decides equality, and in ℤ if both are
/// exact in the reading of the predicate, which decides order.
pub fn icmp(pred: IntPred, flags: InstFlags, a: Shape, b: Shape) -> Shape {
    if a.is_uniform() && b.is_uniform() {
        return Shape::Uniform;
    }
    let (Shape::Strided(x), Shape::Strided(y)) = (a, b) else { return Shape::Varying };
    let exact = match pred {
        IntPred::Eq | IntPred::Ne => x.anchored && y.anchored,
        IntPred::Ugt | IntPred::Uge | IntPred::Ult | IntPred::Ule => {
            x.unsigned.min(y.unsigned) == Exact::Ghost
        }
        IntPred::Sgt | IntPred::Sge | IntPred::Slt | IntPred::Sle => x.signed.min(y.signed) == Exact::Ghost,
    };
    if x.step == y.step && exact && x.whole && y.whole && !flags.contains(InstFlags::SAMESIGN) {
        Shape::Uniform
    } else {
        Shape::Varying
    }
}

/// The shape of `trunc`, `zext` or `sext` of an integer from `from` to `to` bits; other casts vary unless uniform.
pub(crate) fn int_cast(op: CastOp, flags: InstFlags, from: u32, to: u32, x: Shape) -> Shape {
    let s = match x {
        Shape::Uniform => return Shape::Uniform,
        Shape::Varying => return Shape::Varying,
        Shape::Strided(s) => s,
    };
    let step = i128::from(s.step);
    match op {
        CastOp::Trunc if to < from => {
            // Without the flags only the congruence survives. With `nuw` the lanes keep their unsigned values; the
            // ghost is at least 0, and at most the lanes' values if the step is not negative. With `nsw`
            // nothing bounds the ghost on the other side.
            let unsigned = flags
                .contains(InstFlags::NUW)
                .then(|| exact_step(Some(step), s.unsigned, Bounds { lower: true, upper: false }));
            let signed = flags
                .contains(InstFlags::NSW)
                .then(|| exact_step(Some(step), s.signed, Bounds { lower: false, upper: false }));
            let (unsigned, mut signed) = (unsigned.flatten(), signed.flatten());
            // With both flags the lanes' values are not negative. The ghost is not above them if the step is not
            // negative, and at least 0 if it counts in the unsigned reading: both readings agree.
            if step >= 0 && matches!(unsigned, Some((_, Exact::Ghost))) && signed.is_some() {
                signed = unsigned;
            }
            Stepping {
                step,
                unsigned,
                signed,
                anchored: s.anchored,
                whole: s.whole && !flags.intersects(InstFlags::NUW | InstFlags::NSW),
            }
            .shape(to)
        }
        CastOp::ZExt if to > from => {
            // Keeps the unsigned value, which is below half of the new range: exact in both readings. Under `nneg`
            // the lanes' two readings agree, but the ghost's need not.
            let nneg = flags.contains(InstFlags::NNEG);
            let level = match (s.unsigned, s.signed) {
                (Exact::Ghost, _) => Exact::Ghost,
                (Exact::Lanes, _) => Exact::Lanes,
                (Exact::No, Exact::Lanes | Exact::Ghost) if nneg => Exact::Lanes,
                _ => return Shape::Varying,
            };
            extended(step, Some((step, level)), Some((step, level)), s.whole && !nneg, level, to)
        }
        CastOp::SExt if to > from => {
            if s.signed == Exact::No {
                return Shape::Varying;
            }
            extended(step, None, Some((step, s.signed)), s.whole, s.signed, to)
        }
        _ => Shape::Varying,
    }
}

fn extended(
    step: i128,
    unsigned: Option<(i128, Exact)>,
    signed: Option<(i128, Exact)>,
    whole: bool,
    level: Exact,
    to: u32,
) -> Shape {
    Stepping { step, unsigned, signed, anchored: level == Exact::Ghost, whole }.shape(to)
}
