//! `log`, `log2` and `log10`.
//!
//! x = 2ᵉ (1 + f) with 11/16 ≤ 1 + f < 11/8. With s = f / (2 + f), ln (1 + f) = 2 s + s³ p(s²) / 2 = f + (s (f² + s²
//! p(s²)) - f²) / 2: f is exact, and the rest is so small beside it that the rounding of s and of the other
//! operations is little of the result. A polynomial in f alone would need three times as many terms; it is slower,
//! even beside other divisions. f, as far as the base asks for it times a constant, is added to the larger e ln 2
//! with what the sum's rounding loses, which goes into the rest; so each result is rounded about once.

use std::f64::consts;

use warpline_ir::{BinaryOp, FloatPred, Value};

use super::Floats;
use super::exp::DOUBLE_LN_2;

/// p in ln ((1 + s) / (1 - s)) ≈ 2 s + s³ p(s²) / 2.
const LOG: [f64; 7] = [
    1.333_333_333_333_373_7,
    0.799_999_999_970_099_9,
    0.571_428_578_918_748_7,
    0.444_443_556_066_429_7,
    0.363_692_579_715_191_5,
    0.305_746_785_987_260_4,
    0.301_138_854_301_371_7,
];
/// 1 / ln 2 in two parts.
const LOG2_E: [f64; 2] = [consts::LOG2_E, 2.035_527_374_093_103_3e-17];
/// 1 / ln 10 in two parts.
const LOG10_E: [f64; 2] = [consts::LOG10_E, 1.098_319_650_216_765e-17];
/// log₁₀ 2 in two parts, the first one so short that its products with exponents are exact.
const LOG10_2: [f64; 2] = [0.301_029_995_663_839_14, 1.420_502_322_726_61e-13];

/// The bits of 11/16: so neither f² / 2 nor what is left of ln (1 + f) is much larger on one side than on the other.
const LEAST: u64 = 0x3fe6_0000_0000_0000;
/// What exponents are too large by in the bits of a number.
const BIAS: u64 = 1023;
/// How many bits the fraction has.
const FRACTION: u64 = 52;
/// 2⁵²: a whole number below it, in the place of the fraction's bits, is added to it.
const FIRST_WHOLE: f64 = 4_503_599_627_370_496.0;

impl Floats<'_, '_> {
    pub(super) fn log_of_double(&mut self, x: Value) -> Value {
        let (e, f) = self.exponent_and_fraction_of_double(x);
        let rest = self.twice_log1p_rest(f);
        let [high, low] = DOUBLE_LN_2.map(|part| self.number(part));
        let minus_high = self.number(-DOUBLE_LN_2[0]);
        let sum = self.fma(e, high, f);
        let added = self.fma(e, minus_high, sum);
        let lost = self.sub(f, added);
        let tail = self.fma(e, low, lost);
        let half = self.number(0.5);
        let tail = self.fma(rest, half, tail);
        let y = self.add(sum, tail);
        self.special_logarithms(x, y)
    }

    pub(super) fn log2_of_double(&mut self, x: Value) -> Value {
        let (e, f) = self.exponent_and_fraction_of_double(x);
        let rest = self.twice_log1p_rest(f);
        let y = self.sum_with_fraction(e, None, f, rest, LOG2_E);
        self.special_logarithms(x, y)
    }

    pub(super) fn log10_of_double(&mut self, x: Value) -> Value {
        let (e, f) = self.exponent_and_fraction_of_double(x);
        let rest = self.twice_log1p_rest(f);
        let [high, low] = LOG10_2.map(|part| self.number(part));
        let whole = self.mul(e, high);
        let whole_rest = self.mul(e, low);
        let y = self.sum_with_fraction(whole, Some(whole_rest), f, rest, LOG10_E);
        self.special_logarithms(x, y)
    }

    /// `whole + whole_rest + (f + rest / 2)` times a constant in two parts, rounded about once; `whole` is 0 or
    /// larger than the product.
    fn sum_with_fraction(
        &mut self,
        whole: Value,
        whole_rest: Option<Value>,
        f: Value,
        rest: Value,
        [high, low]: [f64; 2],
    ) -> Value {
        let (high, low, half_high) = (self.number(high), self.number(low), self.number(high / 2.0));
        let (product, product_rest) = self.product(f, high);
        let sum = self.add(whole, product);
        let added = self.sub(sum, whole);
        let lost = self.sub(product, added);
        let tail = self.fma(f, low, product_rest);
        let tail = whole_rest.map_or(tail, |part| self.add(tail, part));
        let tail = self.add(tail, lost);
        let tail = self.fma(rest, half_high, tail);
        self.add(sum, tail)
    }

    /// e, a whole number, and f, where 1 + f is from 11/16 to less than 11/8.
    fn exponent_and_fraction_of_double(&mut self, x: Value) -> (Value, Value) {
        // Numbers below the normal ones are made normal.
        let (smallest, scale) = (self.number(f64::MIN_POSITIVE), self.number(FIRST_WHOLE));
        let tiny = self.compare(FloatPred::Olt, x, smallest);
        let larger = self.mul(x, scale);
        let x = self.select(tiny, larger, x);
        let offset = FIRST_WHOLE + BIAS as f64;
        let (offset, tiny_offset) = (self.number(offset), self.number(offset + FRACTION as f64));
        let offset = self.select(tiny, tiny_offset, offset);

        // The exponent that is left when 11/16 is taken for 1, with its bias, so that it is not negative.
        let bits = self.bits(x);
        let to_unit = self.integer((BIAS << FRACTION) - LEAST);
        let of_unit = self.binary(BinaryOp::Add, bits, to_unit);
        let (fraction_size, first_whole) = (self.integer(FRACTION), self.integer(FIRST_WHOLE.to_bits()));
        let exponent = self.binary(BinaryOp::LShr, of_unit, fraction_size);
        // There are no conversions of 64-bit integers in AVX2.
        let exponent = self.binary(BinaryOp::Or, exponent, first_whole);
        let exponent = self.as_float(exponent);
        let e = self.sub(exponent, offset);

        let (fraction, least) = (self.integer((1 << FRACTION) - 1), self.integer(LEAST));
        let mantissa = self.binary(BinaryOp::And, of_unit, fraction);
        let mantissa = self.binary(BinaryOp::Add, mantissa, least);
        let mantissa = self.as_float(mantissa);
        let one = self.number(1.0);
        (e, self.sub(mantissa, one))
    }

    /// 2 ln (1 + f) - 2 f: it is halved where it is added.
    fn twice_log1p_rest(&mut self, f: Value) -> Value {
        let two = self.number(2.0);
        let divisor = self.add(f, two);
        let s = self.binary(BinaryOp::FDiv, f, divisor);
        let s_square = self.mul(s, s);
        let p = self.polynomial(s_square, &LOG);
        let square = self.mul(f, f);
        let inner = self.fma(s_square, p, square);
        let product = self.mul(s, inner);
        // Of f², which is the larger part, nothing is lost here.
        let minus_f = self.neg(f);
        self.fma(minus_f, f, product)
    }
}
