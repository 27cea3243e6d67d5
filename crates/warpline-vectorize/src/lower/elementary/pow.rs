//! `powf`.
//!
//! xʸ = 2^(y log₂ x). The exponent can be 150 in size, and an error of it is one of the result relative to its size,
//! so that the logarithm is computed as a sum of two `float`s: with q = f / (2 + f), ln (1 + f) = 2 q + q³ p(q²); q
//! is corrected by what its rounding left, and the second term is small beside the first one.

use warpline_ir::{BinaryOp, FloatPred, Value};

use super::Floats;
use super::exp::ROUNDING;
use super::log::LOG2_E;

/// p in ln ((1 + q) / (1 - q)) ≈ 2 q + q³ p(q²).
const LOG: [f32; 4] = [0.666_666_6, 0.400_009_72, 0.284_987_72, 0.242_797_03];

/// The bits of √½, from which 1 + f is less than twice as much: so q is small on both sides.
const HALF_ROOT: u32 = 0x3f35_04f3;

/// What the function needs of its exponent y.
pub(super) type Exponent = [Value; 6];

impl Floats<'_, '_> {
    /// y, kept so small that nothing overflows before the end; the bit of the sign, if y is odd; the number below
    /// which x has no power, 0 or -∞; the powers of 0, of ∞ and of NaN.
    pub(super) fn exponent(&mut self, y: Value) -> Exponent {
        let large = 2f32.powi(100);
        let bounded = self.clamp(y, -large, large);
        let ty = self.float_type();
        let (half, zero, one) = (self.number(0.5), self.number(0.0), self.number(1.0));
        let whole = self.intrinsic("llvm.trunc", &[y], ty);
        let is_whole = self.compare(FloatPred::Oeq, whole, y);
        let halved = self.mul(y, half);
        let whole_half = self.intrinsic("llvm.trunc", &[halved], ty);
        let is_even = self.compare(FloatPred::Oeq, whole_half, halved);

        let (infinity, none) = (self.number(f32::INFINITY), self.number(f32::NEG_INFINITY));
        let limit = self.select(is_whole, none, zero);
        let (sign, no_sign) = (self.integer(1 << 31), self.integer(0));
        let sign = self.select(is_whole, sign, no_sign);
        let sign = self.select(is_even, no_sign, sign);

        let positive = self.compare(FloatPred::Ogt, y, zero);
        let negative = self.compare(FloatPred::Olt, y, zero);
        // 1 for 0, NaN for NaN.
        let neither = self.add(y, one);
        let of_zero = self.select(positive, zero, neither);
        let of_zero = self.select(negative, infinity, of_zero);
        let of_infinity = self.select(positive, infinity, neither);
        let of_infinity = self.select(negative, zero, of_infinity);
        let is_zero = self.compare(FloatPred::Oeq, y, zero);
        let nan = self.number(f32::NAN);
        let of_nan = self.select(is_zero, one, nan);
        [bounded, sign, limit, of_zero, of_infinity, of_nan]
    }

    pub(super) fn pow(&mut self, x: Value, exponent: Exponent) -> Value {
        let [y, sign, limit, of_zero, of_infinity, of_nan] = exponent;
        let ty = self.float_type();
        let size = self.intrinsic("llvm.fabs", &[x], ty);
        let (high, low) = self.log2_in_two_parts(size);
        let (z, rest) = self.product(y, high);
        let rest = self.fma(y, low, rest);

        let z_size = self.intrinsic("llvm.fabs", &[z], ty);
        let (most, zero, one) = (self.number(160.0), self.number(0.0), self.number(1.0));
        let bounded = self.compare(FloatPred::Olt, z_size, most);
        let rest = self.select(bounded, rest, zero);
        let z = self.clamp(z, -160.0, 160.0);
        let rounding = self.number(ROUNDING);
        let shifted = self.add(z, rounding);
        let n = self.sub(shifted, rounding);
        let r = self.sub(z, n);
        let r = self.add(r, rest);
        let power = self.exp2_of_parts(shifted, r);

        // Only a negative number to a power that is no whole number has none.
        let nan = self.number(f32::NAN);
        let has_none = self.compare(FloatPred::Olt, x, limit);
        let power = self.select(has_none, nan, power);
        let is_zero = self.compare(FloatPred::Oeq, size, zero);
        let power = self.select(is_zero, of_zero, power);
        let infinity = self.number(f32::INFINITY);
        let is_infinite = self.compare(FloatPred::Oeq, size, infinity);
        let power = self.select(is_infinite, of_infinity, power);
        let is_nan = self.compare(FloatPred::Uno, x, x);
        let power = self.select(is_nan, of_nan, power);
        let is_one = self.compare(FloatPred::Oeq, x, one);
        let power = self.select(is_one, one, power);
        self.with_sign_of(power, x, sign)
    }

    /// `size`, negated where `x` is negative and `sign` has the bit of the sign.
    fn with_sign_of(&mut self, size: Value, x: Value, sign: Value) -> Value {
        let bits = self.bits(x);
        let negative = self.binary(BinaryOp::And, bits, sign);
        let size = self.bits(size);
        let whole = self.binary(BinaryOp::Xor, size, negative);
        self.as_float(whole)
    }

    /// log₂ x for positive, finite x.
    fn log2_in_two_parts(&mut self, x: Value) -> (Value, Value) {
        let (e, f) = self.exponent_and_fraction(x, HALF_ROOT);
        // q = f / (2 + f), and what is left of it. The divisor is rounded; what that lost is f - (divisor - 2).
        let (one, two) = (self.number(1.0), self.number(2.0));
        let divisor = self.add(f, two);
        let divisor_high = self.sub(divisor, two);
        let divisor_low = self.sub(f, divisor_high);
        let reciprocal = self.binary(BinaryOp::FDiv, one, divisor);
        let q = self.mul(f, reciprocal);
        let minus_q = self.neg(q);
        let left = self.fma(minus_q, divisor, f);
        let left = self.fma(minus_q, divisor_low, left);
        let q_low = self.mul(left, reciprocal);

        // ln (1 + f) = high + low
        let (square, square_low) = self.product(q, q);
        let p = self.polynomial(square, &LOG);
        let (cube, cube_low) = self.product(square, q);
        let cube_low = self.fma(square_low, q, cube_low);
        let high = self.add(q, q);
        let twice_low = self.add(q_low, q_low);
        let thrice_low = self.add(twice_low, q_low);
        let cube_low = self.fma(square, thrice_low, cube_low);
        let low = self.fma(cube_low, p, twice_low);
        let low = self.fma(cube, p, low);

        // Divided by ln 2, and added to e, which is 0 or the larger one.
        let [major, minor] = LOG2_E.map(|part| self.number(part));
        let (product, rest) = self.product(high, major);
        let rest = self.fma(high, minor, rest);
        let rest = self.fma(low, major, rest);
        let sum = self.add(e, product);
        let added = self.sub(sum, e);
        let lost = self.sub(product, added);
        let rest = self.add(lost, rest);
        // The second part holds the second term of the logarithm; of it, only what does not fit into the first part
        // stays.
        let high = self.add(sum, rest);
        let moved = self.sub(high, sum);
        (high, self.sub(rest, moved))
    }
}
