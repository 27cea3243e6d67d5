//! `expf` and `exp2f`.
//!
//! x = n ln 2 + r with a whole n and |r| ≤ ln 2 / 2, so that eˣ = 2ⁿ eʳ; likewise for 2ˣ. The power of two is multiplied in two steps, for n
//! may be less than the exponent of the smallest normal number, or more than that of the largest: then the result is rounded once, or infinite.

use std::f32::consts::{LN_2 as LN_2_HIGH, LOG2_E};

use crate::ir::{BinaryOp, Value};

use super::{Floats, ROUNDING};

/// q in eʳ ≈ 1 + r + r² q(r).
const EXP: [f32; 5] = [0.499_999_94, 0.166_665_21, 0.041_668_262, 0.008_368_671, 0.001_382_104_1];
/// q in 2ʳ ≈ 1 + r q(r).
const EXP2: [f32; 6] =
    [LN_2_HIGH, 0.240_226_48, 0.055_503_596, 0.009_618_5, 0.001_339_097_6, 0.000_153_289_44];
/// ln 2 in two parts.
const LN_2: [f32; 2] = [LN_2_HIGH, -1.904_654_2e-9];

impl Floats<'_, '_> {
    pub(super) fn exp(&mut self, x: Value) -> Value {
        // Beyond these, results are 0 and infinity.
        let x = self.clamp(x, -104.0, 89.0);
        let (log2_e, rounding) = (self.number(LOG2_E), self.number(ROUNDING));
        let shifted = self.fma(x, log2_e, rounding);
        let n = self.sub(shifted, rounding);
        // r = major + minor; the major part is exact, for it has no more digits than x and n ln 2 have in common.
        let [high, low] = LN_2.map(|part| self.number(-part));
        let major = self.fma(n, high, x);
        let minor = self.mul(n, low);
        let r = self.add(major, minor);
        let q = self.polynomial(r, &EXP);
        let square = self.mul(r, r);
        let rest = self.fma(square, q, minor);
        let less_one = self.add(major, rest);
        let one = self.number(1.0);
        let power = self.add(less_one, one);
        self.scaled(power, shifted)
    }

    pub(super) fn exp2(&mut self, x: Value) -> Value {
        let x = self.clamp(x, -151.0, 129.0);
        let rounding = self.number(ROUNDING);
        let shifted = self.add(x, rounding);
        let n = self.sub(shifted, rounding);
        let r = self.sub(x, n);
        self.exp2_of_parts(shifted, r)
    }

    /// 2ⁿ⁺ʳ for a whole n, given as `n + ROUNDING`, and |r| little more than 1/2.
    pub(super) fn exp2_of_parts(&mut self, shifted: Value, r: Value) -> Value {
        let q = self.polynomial(r, &EXP2);
        let one = self.number(1.0);
        let power = self.fma(r, q, one);
        self.scaled(power, shifted)
    }

    /// `x · 2ⁿ`, with `n + ROUNDING` given and -256 ≤ n < 256.
    fn scaled(&mut self, x: Value, shifted: Value) -> Value {
        let bits = self.bits(shifted);
        let exponent = self.integer(23);
        let whole = self.binary(BinaryOp::Shl, bits, exponent);
        let (one, sign_and_exponent) = (self.integer(1), self.integer(0xff80_0000));
        let half = self.binary(BinaryOp::AShr, whole, one);
        let half = self.binary(BinaryOp::And, half, sign_and_exponent);
        let rest = self.binary(BinaryOp::Sub, whole, half);
        let bias = self.integer(127 << 23);
        let mut scaled = x;
        for part in [half, rest] {
            let factor = self.binary(BinaryOp::Add, part, bias);
            let factor = self.as_float(factor);
            scaled = self.mul(scaled, factor);
        }
        scaled
    }
}
