//! Floating-point arithmetic by bit pattern.
//!
//! `float` and `double` are computed in their own format. `half` and `bfloat` are computed in `float` and
//! rounded once more: for + − × ÷ √ that is exact rounding, as 24 ≥ 2·11 + 2. Their fused multiply-add goes
//! through `double` with rounding to odd. Wider formats are carried, not computed.

use warpline_ir::{BinaryOp, FloatKind, FloatPred};

/// Whether arithmetic of this format is modelled.
pub(super) fn supported(kind: FloatKind) -> bool {
    matches!(kind, FloatKind::Half | FloatKind::BFloat | FloatKind::Float | FloatKind::Double)
}

fn f32_of(bits: u128) -> f32 {
    f32::from_bits(bits as u32)
}

fn f64_of(bits: u128) -> f64 {
    f64::from_bits(bits as u64)
}

/// 2ⁿ for n in −1074 … 1023.
pub(super) fn power_of_two(n: i32) -> f64 {
    if n < -1022 { f64::from_bits(1 << (n + 1074)) } else { f64::from_bits(((n + 1023) as u64) << 52) }
}

/// (fraction bits, exponent bits) of the small formats.
fn small_format(kind: FloatKind) -> (u32, u32) {
    match kind {
        FloatKind::Half => (10, 5),
        _ => (7, 8),
    }
}

fn small_to_f64(kind: FloatKind, bits: u128) -> f64 {
    let (p, e) = small_format(kind);
    let bits = bits as u64 & 0xffff;
    let sign = (bits >> 15) << 63;
    let exp = bits >> p & ((1 << e) - 1);
    let frac = bits & ((1 << p) - 1);
    let bias = (1i64 << (e - 1)) - 1;
    if exp == (1 << e) - 1 {
        let quiet = if frac == 0 { 0 } else { 1 << 51 };
        return f64::from_bits(sign | 0x7ff << 52 | frac << (52 - p) | quiet);
    }
    // The scale is a power of two within the range of double: the product is exact.
    let (mantissa, exponent) = if exp == 0 { (frac, 1 - bias) } else { (frac | 1 << p, exp as i64 - bias) };
    let scale = power_of_two((exponent - i64::from(p)) as i32);
    f64::from_bits((mantissa as f64 * scale).to_bits() | sign)
}

/// Rounds to nearest, ties to even.
fn f64_to_small(kind: FloatKind, x: f64) -> u128 {
    let (p, e) = small_format(kind);
    let bits = x.to_bits();
    let sign = (bits >> 63) << 15;
    let exp = (bits >> 52 & 0x7ff) as i64;
    let frac = bits & ((1 << 52) - 1);
    let infinity = ((1u64 << e) - 1) << p;
    if exp == 0x7ff {
        let nan = if frac == 0 { 0 } else { frac >> (52 - p) | 1 << (p - 1) };
        return u128::from(sign | infinity | nan);
    }
    if exp == 0 {
        return u128::from(sign); // zero, or far below the least subnormal
    }
    let bias = (1i64 << (e - 1)) - 1;
    let exponent = exp - 1023;
    let mantissa = frac | 1 << 52;
    let below = (1 - bias - exponent).max(0);
    let shift = i64::from(52 - p) + below;
    if shift > 62 {
        return u128::from(sign);
    }
    let mut q = mantissa >> shift;
    let rest = mantissa & ((1 << shift) - 1);
    let half = 1u64 << (shift - 1);
    if rest > half || (rest == half && q & 1 == 1) {
        q += 1;
    }
    let magnitude = if below > 0 { q } else { (((exponent + bias) as u64) << p) + (q - (1 << p)) };
    u128::from(sign | magnitude.min(infinity))
}

/// The number, exactly (a signalling NaN becomes quiet). The format must be supported.
pub(super) fn to_f64(kind: FloatKind, bits: u128) -> f64 {
    match kind {
        FloatKind::Float => f64::from(f32_of(bits)),
        FloatKind::Double => f64_of(bits),
        _ => small_to_f64(kind, bits),
    }
}

/// Rounds to the format, once. The format must be supported.
pub(super) fn from_f64(kind: FloatKind, x: f64) -> u128 {
    match kind {
        FloatKind::Float => u128::from((x as f32).to_bits()),
        FloatKind::Double => u128::from(x.to_bits()),
        _ => f64_to_small(kind, x),
    }
}

/// Applies a function in `float` or `double`: `half` and `bfloat` go through `float`.
pub(super) fn map1(kind: FloatKind, a: u128, f32s: fn(f32) -> f32, f64s: fn(f64) -> f64) -> u128 {
    match kind {
        FloatKind::Float => u128::from(f32s(f32_of(a)).to_bits()),
        FloatKind::Double => u128::from(f64s(f64_of(a)).to_bits()),
        _ => f64_to_small(kind, f64::from(f32s(small_to_f64(kind, a) as f32))),
    }
}

/// The same for two operands.
pub(super) fn map2(
    kind: FloatKind,
    a: u128,
    b: u128,
    f32s: fn(f32, f32) -> f32,
    f64s: fn(f64, f64) -> f64,
) -> u128 {
    match kind {
        FloatKind::Float => u128::from(f32s(f32_of(a), f32_of(b)).to_bits()),
        FloatKind::Double => u128::from(f64s(f64_of(a), f64_of(b)).to_bits()),
        _ => {
            let (a, b) = (small_to_f64(kind, a) as f32, small_to_f64(kind, b) as f32);
            f64_to_small(kind, f64::from(f32s(a, b)))
        }
    }
}

/// The five arithmetic operations.
pub(super) fn binary(op: BinaryOp, kind: FloatKind, a: u128, b: u128) -> u128 {
    match op {
        BinaryOp::FAdd => map2(kind, a, b, |a, b| a + b, |a, b| a + b),
        BinaryOp::FSub => map2(kind, a, b, |a, b| a - b, |a, b| a - b),
        BinaryOp::FMul => map2(kind, a, b, |a, b| a * b, |a, b| a * b),
        BinaryOp::FDiv => map2(kind, a, b, |a, b| a / b, |a, b| a / b),
        _ => map2(kind, a, b, |a, b| a % b, |a, b| a % b),
    }
}

/// `a·b + c`, rounded once.
pub(super) fn fma(kind: FloatKind, a: u128, b: u128, c: u128) -> u128 {
    match kind {
        FloatKind::Float => u128::from(f32_of(a).mul_add(f32_of(b), f32_of(c)).to_bits()),
        FloatKind::Double => u128::from(f64_of(a).mul_add(f64_of(b), f64_of(c)).to_bits()),
        _ => {
            let (a, b, c) = (small_to_f64(kind, a), small_to_f64(kind, b), small_to_f64(kind, c));
            f64_to_small(kind, add_to_odd(a * b, c)) // the product is exact in double
        }
    }
}

/// `p + c` in double, rounded to odd: the last bit is set if the sum is inexact (Boldo and Melquiond).
fn add_to_odd(p: f64, c: f64) -> f64 {
    let sum = p + c;
    if !sum.is_finite() {
        return sum;
    }
    let t = sum - p;
    let error = (p - (sum - t)) + (c - t);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // Move one step towards the exact sum; its neighbour has an odd last bit.
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// Sign bit of the format.
pub(super) fn sign_bit(kind: FloatKind) -> u128 {
    1 << (kind.bits() - 1)
}

/// Whether the bits are a NaN. The format must be supported.
pub(super) fn is_nan(kind: FloatKind, bits: u128) -> bool {
    to_f64(kind, bits).is_nan()
}

/// Whether the bits are an infinity. The format must be supported.
pub(super) fn is_infinite(kind: FloatKind, bits: u128) -> bool {
    to_f64(kind, bits).is_infinite()
}

/// The comparison. The format must be supported.
pub(super) fn compare(pred: FloatPred, kind: FloatKind, a: u128, b: u128) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = to_f64(kind, a).partial_cmp(&to_f64(kind, b));
    match pred {
        FloatPred::False => false,
        FloatPred::True => true,
        FloatPred::Ord => order.is_some(),
        FloatPred::Uno => order.is_none(),
        FloatPred::Oeq => order == Some(Equal),
        FloatPred::Ogt => order == Some(Greater),
        FloatPred::Olt => order == Some(Less),
        FloatPred::Oge => matches!(order, Some(Greater | Equal)),
        FloatPred::Ole => matches!(order, Some(Less | Equal)),
        FloatPred::One => matches!(order, Some(Less | Greater)),
        FloatPred::Ueq => matches!(order, None | Some(Equal)),
        FloatPred::Ugt => matches!(order, None | Some(Greater)),
        FloatPred::Ult => matches!(order, None | Some(Less)),
        FloatPred::Uge => matches!(order, None | Some(Greater | Equal)),
        FloatPred::Ule => matches!(order, None | Some(Less | Equal)),
        FloatPred::Une => order != Some(Equal),
    }
}

/// The integer nearest to zero, as two's complement of `width` bits; `None` if it does not fit.
pub(super) fn to_int(kind: FloatKind, bits: u128, width: u32, signed: bool) -> Option<u128> {
    let x = to_f64(kind, bits).trunc();
    let power = |n: u32| power_of_two(n as i32);
    let fits =
        if signed { x >= -power(width - 1) && x < power(width - 1) } else { x > -1.0 && x < power(width) };
    if !fits {
        return None;
    }
    let v = if signed { x as i128 as u128 } else { x as u128 };
    Some(super::scalar::truncate(v, width))
}

/// The integer nearest to zero, clamped to the range of `width` bits; NaN gives 0.
pub(super) fn to_int_saturating(kind: FloatKind, bits: u128, width: u32, signed: bool) -> u128 {
    let x = to_f64(kind, bits);
    let (low, high) = match signed {
        true => (1u128 << (width - 1), (1u128 << (width - 1)) - 1),
        false => (0, super::scalar::truncate(u128::MAX, width)),
    };
    match to_int(kind, bits, width, signed) {
        Some(v) => v,
        None if x.is_nan() => 0,
        None if x < 0.0 => low,
        None => high,
    }
}

/// The float nearest to an integer of `width` bits.
pub(super) fn from_int(kind: FloatKind, v: u128, width: u32, signed: bool) -> u128 {
    let value = super::scalar::sign_extend(v, width);
    let negative = signed && value < 0;
    let magnitude = if negative { value.unsigned_abs() } else { v };
    let rounded = match kind {
        FloatKind::Float => u128::from((magnitude as f32).to_bits()),
        FloatKind::Double => u128::from((magnitude as f64).to_bits()),
        _ => {
            // Keep 53 bits, the last one sticky: then one rounding is left.
            let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
            let lost = magnitude & ((1 << excess) - 1) != 0;
            let kept = (magnitude >> excess | u128::from(lost)) as f64 * power_of_two(excess as i32);
            f64_to_small(kind, kept)
        }
    };
    if negative { rounded | sign_bit(kind) } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_and_bfloat_survives_the_way_through_double() {
        for kind in [FloatKind::Half, FloatKind::BFloat] {
            for bits in 0..=0xffffu128 {
                let x = to_f64(kind, bits);
                if x.is_nan() {
                    assert!(is_nan(kind, from_f64(kind, x)));
                } else {
                    assert_eq!(from_f64(kind, x), bits, "{kind:?} {bits:#x} is {x}");
                }
            }
        }
    }

    #[test]
    fn rounding_to_half_is_to_nearest_even_and_saturates_to_infinity() {
        let half = |x| from_f64(FloatKind::Half, x);
        assert_eq!(half(1.0), 0x3c00);
        assert_eq!(half(1.0 + 1.0 / 2048.0), 0x3c00, "tie to even");
        assert_eq!(half(1.0 + 3.0 / 2048.0), 0x3c02, "tie to even, upwards");
        assert_eq!(half(65504.0), 0x7bff);
        assert_eq!(half(65519.9), 0x7bff);
        assert_eq!(half(65520.0), 0x7c00);
        assert_eq!(half(2f64.powi(-25)), 0, "tie with zero");
        assert_eq!(half(2f64.powi(-25) * 1.01), 1);
        assert_eq!(half(-2f64.powi(-24)), 0x8001);
        assert_eq!(half(f64::NEG_INFINITY), 0xfc00);
    }

    #[test]
    fn fused_multiply_add_of_half_rounds_once() {
        // 1·1 + tiny: double would hold it, a second rounding must not see a tie that is none.
        let half = |x| from_f64(FloatKind::Half, x);
        let a = half(1.0 + 1.0 / 1024.0);
        // a·a = 1 + 2/1024 + 1/1048576: just above 1 + 2/1024.
        assert_eq!(fma(FloatKind::Half, a, a, 0), half(1.0 + 2.0 / 1024.0));
        let c = half(1.0 / 2048.0);
        // … + 1/2048 is just above the tie between 1+2/1024 and 1+3/1024.
        assert_eq!(fma(FloatKind::Half, a, a, c), half(1.0 + 3.0 / 1024.0));
    }

    #[test]
    fn conversions_to_integers_know_the_bounds() {
        let f = |x: f32| u128::from(x.to_bits());
        let k = FloatKind::Float;
        assert_eq!(to_int(k, f(-128.9), 8, true), Some(0x80));
        assert_eq!(to_int(k, f(-129.0), 8, true), None);
        assert_eq!(to_int(k, f(127.9), 8, true), Some(127));
        assert_eq!(to_int(k, f(255.9), 8, false), Some(255));
        assert_eq!(to_int(k, f(256.0), 8, false), None);
        assert_eq!(to_int(k, f(-0.9), 8, false), Some(0));
        assert_eq!(to_int(k, f(f32::NAN), 8, false), None);
        assert_eq!(to_int_saturating(k, f(1e9), 8, true), 127);
        assert_eq!(to_int_saturating(k, f(-1e9), 8, true), 0x80);
        assert_eq!(to_int_saturating(k, f(f32::NAN), 8, true), 0);
    }

    #[test]
    fn integers_round_once_to_bfloat() {
        // 2^60 + 2^52 + 1 is just above the tie between 2^60 and its bfloat successor.
        let v = (1u128 << 60) + (1 << 52) + 1;
        assert_eq!(from_int(FloatKind::BFloat, v, 64, false), from_f64(FloatKind::BFloat, 2f64.powi(60)) + 1);
        let tie = (1u128 << 60) + (1 << 52);
        assert_eq!(from_int(FloatKind::BFloat, tie, 64, false), from_f64(FloatKind::BFloat, 2f64.powi(60)));
    }
}
