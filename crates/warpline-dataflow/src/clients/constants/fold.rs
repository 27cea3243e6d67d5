//! Operations on constants, exactly as they are when the program runs.
//!
//! The lane interpreter judges this analysis, so nothing here is shared with it. `None` stands for poison and for
//! undefined behaviour. Floating-point numbers are computed where every machine computes the same bits: the basic
//! operations on `float` and `double`, unless the result is not a number.

use std::cmp::Ordering;

use crate::clients::intrinsics::Intrinsic;
use crate::clients::numbers::{greatest, least, mask, signed, unsigned};
use warpline_ir::{BinaryOp, FloatKind, FloatPred, InstFlags, IntPred};

/// Integer arithmetic on `bits` bits.
pub(crate) fn binary(op: BinaryOp, flags: InstFlags, bits: u32, a: u128, b: u128) -> Option<u128> {
    let (nuw, nsw, exact) =
        (flags.contains(InstFlags::NUW), flags.contains(InstFlags::NSW), flags.contains(InstFlags::EXACT));
    let shift = u32::try_from(b).ok().filter(|&s| s < bits);
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let (wrapped, unsigned_wraps, signed_wraps) = arithmetic(op, bits, a, b);
            (!(nuw && unsigned_wraps || nsw && signed_wraps)).then_some(wrapped)
        }
        BinaryOp::UDiv | BinaryOp::URem => {
            let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
            let is_quotient = op == BinaryOp::UDiv;
            (!(exact && rest != 0)).then_some(if is_quotient { quotient } else { rest })
        }
        BinaryOp::SDiv | BinaryOp::SRem => {
            let (x, y) = (signed(a, bits), signed(b, bits));
            if x == least(bits) && y == -1 {
                return None;
            }
            let (quotient, rest) = (x.checked_div(y)?, x.checked_rem(y)?);
            let is_quotient = op == BinaryOp::SDiv;
            (!(exact && rest != 0)).then_some(unsigned(if is_quotient { quotient } else { rest }, bits))
        }
        BinaryOp::Shl => {
            let result = a << shift? & mask(bits);
            let broken =
                nuw && result >> shift? != a || nsw && signed(result, bits) >> shift? != signed(a, bits);
            (!broken).then_some(result)
        }
        BinaryOp::LShr | BinaryOp::AShr => {
            let lost = a & mask(shift?);
            let shifted =
                if op == BinaryOp::LShr { a >> shift? } else { unsigned(signed(a, bits) >> shift?, bits) };
            (!(exact && lost != 0)).then_some(shifted)
        }
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => (!(flags.contains(InstFlags::DISJOINT) && a & b != 0)).then_some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        _ => None,
    }
}

/// Sum, difference or product modulo 2^`bits`, and whether it wraps unsigned and signed.
pub(crate) fn arithmetic(op: BinaryOp, bits: u32, a: u128, b: u128) -> (u128, bool, bool) {
    let (x, y) = (signed(a, bits), signed(b, bits));
    let (wrapped, exact_unsigned, exact_signed) = match op {
        BinaryOp::Add => (a.wrapping_add(b), a.checked_add(b), x.checked_add(y)),
        BinaryOp::Sub => (a.wrapping_sub(b), a.checked_sub(b), x.checked_sub(y)),
        _ => (a.wrapping_mul(b), a.checked_mul(b), x.checked_mul(y)),
    };
    let fits_unsigned = exact_unsigned.is_some_and(|v| v <= mask(bits));
    let fits_signed = exact_signed.is_some_and(|v| (least(bits)..=greatest(bits)).contains(&v));
    (wrapped & mask(bits), !fits_unsigned, !fits_signed)
}

/// Whether a comparison of integers of `bits` bits holds.
pub(crate) fn compare(pred: IntPred, bits: u32, a: u128, b: u128) -> bool {
    let unsigned = a.cmp(&b);
    let signed = signed(a, bits).cmp(&signed(b, bits));
    match pred {
        IntPred::Eq => unsigned.is_eq(),
        IntPred::Ne => unsigned.is_ne(),
        IntPred::Ugt => unsigned.is_gt(),
        IntPred::Uge => unsigned.is_ge(),
        IntPred::Ult => unsigned.is_lt(),
        IntPred::Ule => unsigned.is_le(),
        IntPred::Sgt => signed.is_gt(),
        IntPred::Sge => signed.is_ge(),
        IntPred::Slt => signed.is_lt(),
        IntPred::Sle => signed.is_le(),
    }
}

/// A function of integers whose result is one; operands of `bits` bits, a result of `to`.
pub(crate) fn intrinsic(f: Intrinsic, bits: u32, to: u32, args: &[u128]) -> Option<u128> {
    let (a, b) = (*args.first()?, args.get(1).copied().unwrap_or(0));
    let (x, y) = (signed(a, bits), signed(b, bits));
    let saturate = |op: BinaryOp, up: bool| {
        let (sum, _, wraps) = arithmetic(op, bits, a, b);
        if !wraps { sum } else { unsigned(if up { greatest(bits) } else { least(bits) }, bits) }
    };
    let order = |o: Ordering| unsigned(o as i8 as i128, to);
    Some(
        match f {
            Intrinsic::SMax => unsigned(x.max(y), bits),
            Intrinsic::SMin => unsigned(x.min(y), bits),
            Intrinsic::UMax => a.max(b),
            Intrinsic::UMin => a.min(b),
            Intrinsic::UAddSat => match arithmetic(BinaryOp::Add, bits, a, b) {
                (sum, false, _) => sum,
                _ => mask(bits),
            },
            Intrinsic::USubSat => a.saturating_sub(b),
            Intrinsic::SAddSat => saturate(BinaryOp::Add, y > 0),
            Intrinsic::SSubSat => saturate(BinaryOp::Sub, y < 0),
            Intrinsic::SCmp => order(x.cmp(&y)),
            Intrinsic::UCmp => order(a.cmp(&b)),
            Intrinsic::Abs if x == least(bits) && b & 1 != 0 => return None,
            Intrinsic::Abs => x.unsigned_abs() & mask(bits),
            Intrinsic::CtPop => u128::from(a.count_ones()),
            Intrinsic::CtLz | Intrinsic::CtTz if a == 0 && b & 1 != 0 => return None,
            Intrinsic::CtLz => u128::from(a.leading_zeros() + bits - 128),
            Intrinsic::CtTz => u128::from(a.trailing_zeros().min(bits)),
            Intrinsic::BSwap if bits.is_multiple_of(16) => a.swap_bytes() >> (128 - bits),
            Intrinsic::BitReverse => a.reverse_bits() >> (128 - bits),
            Intrinsic::FunnelLeft | Intrinsic::FunnelRight => {
                let by = (args.get(2)? % u128::from(bits)) as u32;
                let left = if f == Intrinsic::FunnelLeft { by } else { (bits - by) % bits };
                match (left, f) {
                    (0, Intrinsic::FunnelLeft) => a,
                    (0, _) => b,
                    _ => (a << left | b >> (bits - left)) & mask(bits),
                }
            }
            Intrinsic::First => a,
            Intrinsic::BSwap | Intrinsic::Overflow(..) => return None,
        } & mask(to),
    )
}

/// A floating-point number of a kind that is computed; `None` for other kinds.
fn float(kind: FloatKind, bits: u128) -> Option<f64> {
    match kind {
        FloatKind::Float => Some(f64::from(f32::from_bits(bits as u32))),
        FloatKind::Double => Some(f64::from_bits(bits as u64)),
        _ => None,
    }
}

/// The outcome of an operation on floating-point numbers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Float {
    /// These bits.
    Is(u128),
    /// Poison: fast-math flags promised otherwise.
    Poison,
    /// Not computed here.
    Unknown,
}

/// Whether flags promise that there is no such number.
fn breaks(flags: InstFlags, v: f64) -> bool {
    flags.contains(InstFlags::NNAN) && v.is_nan() || flags.contains(InstFlags::NINF) && v.is_infinite()
}

/// The result `v` of an operation with these flags on these operands: any other flag than the two that make poison
/// allows for other results.
fn checked(flags: InstFlags, kind: FloatKind, operands: &[f64], v: f64) -> Float {
    if breaks(flags, v) || operands.iter().any(|&o| breaks(flags, o)) {
        return Float::Poison;
    }
    // The bits of what is not a number differ from machine to machine.
    if v.is_nan() || !flags.difference(InstFlags::NNAN | InstFlags::NINF).is_empty() {
        return Float::Unknown;
    }
    match kind {
        FloatKind::Float => Float::Is(u128::from((v as f32).to_bits())),
        _ => Float::Is(u128::from(v.to_bits())),
    }
}

/// Floating-point arithmetic.
pub(crate) fn float_binary(op: BinaryOp, flags: InstFlags, kind: FloatKind, a: u128, b: u128) -> Float {
    let (Some(x), Some(y)) = (float(kind, a), float(kind, b)) else { return Float::Unknown };
    // For the four operations, rounding from `double` to `float` once more is exact: 53 ≥ 2 · 24 + 2.
    let v = match op {
        BinaryOp::FAdd => x + y,
        BinaryOp::FSub => x - y,
        BinaryOp::FMul => x * y,
        BinaryOp::FDiv => x / y,
        _ => x % y,
    };
    let v = if kind == FloatKind::Float { f64::from(v as f32) } else { v };
    checked(flags, kind, &[x, y], v)
}

/// Negation: the sign bit, exactly.
pub(crate) fn float_neg(flags: InstFlags, kind: FloatKind, a: u128) -> Float {
    let Some(x) = float(kind, a) else { return Float::Unknown };
    if breaks(flags, x) { Float::Poison } else { Float::Is(a ^ 1 << (kind.bits() - 1)) }
}

/// A comparison; the outcome is 0 or 1.
pub(crate) fn float_compare(pred: FloatPred, flags: InstFlags, kind: FloatKind, a: u128, b: u128) -> Float {
    let (Some(x), Some(y)) = (float(kind, a), float(kind, b)) else { return Float::Unknown };
    if breaks(flags, x) || breaks(flags, y) {
        return Float::Poison;
    }
    let order = x.partial_cmp(&y);
    let (less, equal, greater, unordered) = (
        order == Some(Ordering::Less),
        order == Some(Ordering::Equal),
        order == Some(Ordering::Greater),
        order.is_none(),
    );
    Float::Is(u128::from(match pred {
        FloatPred::False => false,
        FloatPred::Oeq => equal,
        FloatPred::Ogt => greater,
        FloatPred::Oge => greater || equal,
        FloatPred::Olt => less,
        FloatPred::Ole => less || equal,
        FloatPred::One => less || greater,
        FloatPred::Ord => !unordered,
        FloatPred::Ueq => equal || unordered,
        FloatPred::Ugt => greater || unordered,
        FloatPred::Uge => !less,
        FloatPred::Ult => less || unordered,
        FloatPred::Ule => !greater,
        FloatPred::Une => !equal,
        FloatPred::Uno => unordered,
        FloatPred::True => true,
    }))
}

/// An integer as a floating-point number.
pub(crate) fn int_to_float(kind: FloatKind, bits: u32, value: u128, is_signed: bool) -> Float {
    let x = signed(value, bits);
    Float::Is(match (kind, is_signed) {
        (FloatKind::Float, true) => u128::from((x as f32).to_bits()),
        (FloatKind::Float, false) => u128::from((value as f32).to_bits()),
        (FloatKind::Double, true) => u128::from((x as f64).to_bits()),
        (FloatKind::Double, false) => u128::from((value as f64).to_bits()),
        _ => return Float::Unknown,
    })
}

/// A floating-point number as an integer of `bits` bits, towards zero; poison if it does not fit.
pub(crate) fn float_to_int(kind: FloatKind, value: u128, bits: u32, is_signed: bool) -> Float {
    let Some(x) = float(kind, value) else { return Float::Unknown };
    let whole = x.trunc();
    // Conversions of Rust saturate; a number that fits comes back as it is.
    if is_signed {
        let v = whole as i128;
        let fits = v as f64 == whole && (least(bits)..=greatest(bits)).contains(&v) && v != i128::MAX;
        if fits { Float::Is(unsigned(v, bits)) } else { Float::Poison }
    } else {
        let v = whole as u128;
        let fits = v as f64 == whole && v <= mask(bits) && v != u128::MAX;
        if fits { Float::Is(v) } else { Float::Poison }
    }
}

/// A `float` as a `double` or the other way round.
pub(crate) fn float_to_float(flags: InstFlags, from: FloatKind, to: FloatKind, value: u128) -> Float {
    let Some(x) = float(from, value).filter(|_| float(to, 0).is_some()) else { return Float::Unknown };
    let v = if to == FloatKind::Float { f64::from(x as f32) } else { x };
    checked(flags, to, &[x], v)
}
