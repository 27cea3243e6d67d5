//! `logf`, `log2f` and `log10f`; what is special about logarithms.
//!
//! x = 2ᵉ (1 + f) with 2/3 ≤ 1 + f < 4/3, so that ln x = e ln 2 + ln (1 + f). Where e is not 0, the sum is at least
//! as large as ln (1 + f) or not much smaller, and rounding its parts costs little.

use std::f32::consts;

use warpline_ir::{BinaryOp, CastOp, FloatKind, FloatPred, Type, Value};

use super::Floats;

/// q in ln (1 + f) ≈ f + f² q(f).
const LOG: [f32; 9] = [
    -0.5,
    0.333_332_15,
    -0.249_997_99,
    0.200_104_46,
    -0.166_804_39,
    0.140_053_06,
    -0.121_848_93,
    0.139_868_97,
    -0.128_890_7,
];
/// 1 / ln 2 in two parts.
pub(super) const LOG2_E: [f32; 2] = [consts::LOG2_E, 1.925_963e-8];
/// 1 / ln 10 in two parts.
const LOG10_E: [f32; 2] = [consts::LOG10_E, -1.010_305e-8];

/// log₁₀ 2 in two parts: where it meets a fraction of the other sign, little is left.
const LOG10_2: [f32; 2] = [consts::LOG10_2, -1.432_098_9e-8];

/// The bits of 2/3.
const TWO_THIRDS: u32 = 0x3f2a_aaab;

impl Floats<'_, '_> {
    pub(super) fn log(&mut self, x: Value) -> Value {
        if self.is_double() {
            return self.log_of_double(x);
        }
        let (e, f) = self.exponent_and_fraction(x, TWO_THIRDS);
        let ln = self.log1p(f);
        let ln_2 = self.number(consts::LN_2);
        let y = self.fma(e, ln_2, ln);
        self.special_logarithms(x, y)
    }

    pub(super) fn log2(&mut self, x: Value) -> Value {
        if self.is_double() {
            return self.log2_of_double(x);
        }
        let (e, f) = self.exponent_and_fraction(x, TWO_THIRDS);
        let ln = self.log1p(f);
        let fraction = self.times(ln, LOG2_E);
        let y = self.add(e, fraction);
        self.special_logarithms(x, y)
    }

    pub(super) fn log10(&mut self, x: Value) -> Value {
        if self.is_double() {
            return self.log10_of_double(x);
        }
        let (e, f) = self.exponent_and_fraction(x, TWO_THIRDS);
        let ln = self.log1p(f);
        let fraction = self.times(ln, LOG10_E);
        let [high, low] = LOG10_2.map(|part| self.number(part));
        let fraction = self.fma(e, low, fraction);
        let y = self.fma(e, high, fraction);
        self.special_logarithms(x, y)
    }

    /// `x` times a constant in two parts, rounded about once.
    fn times(&mut self, x: Value, [high, low]: [f32; 2]) -> Value {
        let (high, low) = (self.number(high), self.number(low));
        let rest = self.mul(x, low);
        self.fma(x, high, rest)
    }

    /// e, a whole number, and f, where 1 + f is from the number with the bits `least` to less than twice as much; of
    /// a `float`.
    pub(super) fn exponent_and_fraction(&mut self, x: Value, least: u32) -> (Value, Value) {
        // Numbers below the normal ones are made normal.
        let (smallest, scale) = (self.number(f32::MIN_POSITIVE), self.number(8_388_608.0));
        let tiny = self.compare(FloatPred::Olt, x, smallest);
        let larger = self.mul(x, scale);
        let x = self.select(tiny, larger, x);
        let (zero, correction) = (self.number(0.0), self.number(-23.0));
        let correction = self.select(tiny, correction, zero);

        let bits = self.bits(x);
        let (least, sign_and_exponent) = (self.integer(least.into()), self.integer(0xff80_0000));
        let distance = self.binary(BinaryOp::Sub, bits, least);
        let exponent = self.binary(BinaryOp::And, distance, sign_and_exponent);
        let mantissa = self.binary(BinaryOp::Sub, bits, exponent);
        let mantissa = self.as_float(mantissa);
        let (one, unit) = (self.number(1.0), self.number(1.0 / 8_388_608.0));
        let f = self.sub(mantissa, one);
        let exponent = self.cast(CastOp::SiToFp, exponent, Type::Float(FloatKind::Float));
        (self.fma(exponent, unit, correction), f)
    }

    /// ln (1 + f)
    fn log1p(&mut self, f: Value) -> Value {
        let q = self.polynomial(f, &LOG);
        let square = self.mul(f, f);
        self.fma(square, q, f)
    }

    /// The logarithm of `x`, which is `y` if `x` is positive and finite.
    pub(super) fn special_logarithms(&mut self, x: Value, y: Value) -> Value {
        let (infinity, zero) = (self.number(f32::INFINITY), self.number(0.0));
        let (nan, pole) = (self.number(f32::NAN), self.number(f32::NEG_INFINITY));
        // Infinity and NaN are their own logarithms.
        let finite = self.compare(FloatPred::Olt, x, infinity);
        let y = self.select(finite, y, x);
        let negative = self.compare(FloatPred::Olt, x, zero);
        let y = self.select(negative, nan, y);
        let is_zero = self.compare(FloatPred::Oeq, x, zero);
        self.select(is_zero, pole, y)
    }
}
