//! `expf` and `exp2f`.
//!
//! x = n ln 2 + r with a whole n and |r| ≤ ln 2 / 2, so that eˣ = 2ⁿ eʳ; likewise for 2ˣ. The power of two is
//! multiplied in two steps, for n may be less than the exponent of the smallest normal number, or more than that of
//! the largest: then the result is rounded once, or infinite.

use std::{f32, f64};

use warpline_ir::{BinaryOp, Value};

use super::Floats;

/// 1.5 · 2²³: numbers below 2²² in size lose their fraction when it is added, and the sum's low bits are the whole
/// number.
pub(super) const ROUNDING: f32 = 12_582_912.0;
/// 1.5 · 2⁵² and twice the bias of exponents: the sum's low bits are the whole number and that, which is not
/// negative, so that halves of it need no arithmetic shift, which AVX2 does not have for 64 bits.
const DOUBLE_ROUNDING: f64 = 1.5 * (1u64 << 52) as f64 + 2.0 * 1023.0;

/// q in eʳ ≈ 1 + r + r² q(r).
const EXP: [f32; 5] = [0.499_999_94, 0.166_665_21, 0.041_668_262, 0.008_368_671, 0.001_382_104_1];
/// q for `double`.
const DOUBLE_EXP: [f64; 10] = [
    0.500_000_000_000_001_1,
    0.166_666_666_666_664_4,
    0.041_666_666_666_527_345,
    0.008_333_333_333_478_726,
    0.001_388_888_894_421_149_8,
    0.000_198_412_695_374_231_58,
    2.480_149_259_523_65e-5,
    2.755_756_075_755_027e-6,
    2.763_040_442_351_110_5e-7,
    2.500_773_131_674_037e-8,
];
/// q in 2ʳ ≈ 1 + r q(r).
const EXP2: [f32; 6] =
    [f32::consts::LN_2, 0.240_226_48, 0.055_503_596, 0.009_618_5, 0.001_339_097_6, 0.000_153_289_44];
/// q for `double`.
const DOUBLE_EXP2: [f64; 11] = [
    f64::consts::LN_2,
    0.240_226_506_959_101_08,
    0.055_504_108_664_821_715,
    0.009_618_129_107_601_583,
    0.001_333_355_814_654_849_5,
    0.000_154_035_304_490_801_48,
    1.525_273_363_179_933_3e-5,
    1.321_543_880_762_390_8e-6,
    1.017_816_092_323_688_1e-7,
    7.073_238_789_372_146e-9,
    4.438_738_737_375_51e-10,
];
/// ln 2 in two parts.
const LN_2: [f32; 2] = [f32::consts::LN_2, -1.904_654_2e-9];
/// ln 2 in two parts, for `double`.
pub(super) const DOUBLE_LN_2: [f64; 2] = [f64::consts::LN_2, 2.319_046_813_846_299_6e-17];

impl Floats<'_, '_> {
    pub(super) fn exp(&mut self, x: Value) -> Value {
        // Beyond these, results are 0 and infinity.
        let (lowest, highest) = if self.is_double() { (-746.0, 710.0) } else { (-104.0, 89.0) };
        let x = self.clamp(x, lowest, highest);
        let (log2_e, rounding) = (self.number(f64::consts::LOG2_E), self.rounding());
        let shifted = self.fma(x, log2_e, rounding);
        let n = self.sub(shifted, rounding);
        // r = major + minor; the major part is exact, for it has no more digits than x and n ln 2 have in common.
        let ln_2 = if self.is_double() { DOUBLE_LN_2 } else { LN_2.map(f64::from) };
        let [high, low] = ln_2.map(|part| self.number(-part));
        let major = self.fma(n, high, x);
        let minor = self.mul(n, low);
        let r = self.add(major, minor);
        let q = if self.is_double() { self.polynomial(r, &DOUBLE_EXP) } else { self.polynomial(r, &EXP) };
        let square = self.mul(r, r);
        let rest = self.fma(square, q, minor);
        let less_one = self.add(major, rest);
        let one = self.number(1.0);
        let power = self.add(less_one, one);
        self.scaled(power, shifted)
    }

    pub(super) fn exp2(&mut self, x: Value) -> Value {
        let (lowest, highest) = if self.is_double() { (-1076.0, 1025.0) } else { (-151.0, 129.0) };
        let x = self.clamp(x, lowest, highest);
        let rounding = self.rounding();
        let shifted = self.add(x, rounding);
        let n = self.sub(shifted, rounding);
        let r = self.sub(x, n);
        self.exp2_of_parts(shifted, r)
    }

    fn rounding(&mut self) -> Value {
        if self.is_double() { self.number(DOUBLE_ROUNDING) } else { self.number(ROUNDING) }
    }

    /// 2ⁿ⁺ʳ for a whole n, given as its sum with the rounding constant, and |r| little more than 1/2.
    pub(super) fn exp2_of_parts(&mut self, shifted: Value, r: Value) -> Value {
        let q = if self.is_double() { self.polynomial(r, &DOUBLE_EXP2) } else { self.polynomial(r, &EXP2) };
        let one = self.number(1.0);
        let power = self.fma(r, q, one);
        self.scaled(power, shifted)
    }

    /// `x · 2ⁿ`, with n given as its sum with the rounding constant, and -256 ≤ n < 256 (-2046 ≤ n < 2048 for
    /// `double`).
    fn scaled(&mut self, x: Value, shifted: Value) -> Value {
        let factors =
            if self.is_double() { self.double_powers_of_two(shifted) } else { self.powers_of_two(shifted) };
        factors.into_iter().fold(x, |scaled, bits| {
            let factor = self.as_float(bits);
            self.mul(scaled, factor)
        })
    }

    /// The bits of two powers of two that 2ⁿ is the product of.
    fn powers_of_two(&mut self, shifted: Value) -> [Value; 2] {
        let bits = self.bits(shifted);
        let exponent = self.integer(23);
        let whole = self.binary(BinaryOp::Shl, bits, exponent);
        let (one, sign_and_exponent) = (self.integer(1), self.integer(0xff80_0000));
        let half = self.binary(BinaryOp::AShr, whole, one);
        let half = self.binary(BinaryOp::And, half, sign_and_exponent);
        let rest = self.binary(BinaryOp::Sub, whole, half);
        let bias = self.integer(127 << 23);
        [half, rest].map(|part| self.binary(BinaryOp::Add, part, bias))
    }

    /// The same for `double`, where the rounding constant holds both exponents' bias.
    fn double_powers_of_two(&mut self, shifted: Value) -> [Value; 2] {
        let bits = self.bits(shifted);
        let (one, exponent) = (self.integer(1), self.integer(52));
        let whole = self.binary(BinaryOp::Shl, bits, exponent);
        let half = self.binary(BinaryOp::LShr, bits, one);
        let half = self.binary(BinaryOp::Shl, half, exponent);
        [half, self.binary(BinaryOp::Sub, whole, half)]
    }
}
