//! Conversions of integers of 64 bits to floating-point numbers, for machines that convert one at a time.
//!
//! **To `double`.** The upper half is put into the bits of 2⁸⁴ and the lower one into those of 2⁵², where it counts as
//! what it is worth. What is too much in the one is subtracted, exactly, and the sum rounds once. Signed numbers are
//! moved by 2⁶³ before.
//!
//! **To `float`** by way of `double`, which would round twice. So numbers with more digits than a `double` has lose
//! some before, and where these were not zero, the last one that stays is made 1: it is far below what `float` rounds
//! at, and tells on which side of a middle the number lies (rounding to odd: Boldo and Melquiond, *Emulation of FMA and
//! correctly rounded sums*, IEEE Trans. Comput. 57(4), 2008).

use warpline_ir::{BinaryOp, CastOp, FloatKind, Inst, IntPred, Op, Type, Value};

use super::Floats;
use crate::VectorizeError;
use crate::lower::Lower;

/// The digits that are lost where numbers have too many for a `double`.
const LOST: u64 = (1 << 11) - 1;

impl Lower<'_> {
    /// A conversion of integers of 64 bits, by parts.
    pub(in crate::lower) fn long_conversion(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let (&[x], &[result]) = (&data.args[..], &data.results[..]) else {
            return Err(self.internal(i, "a conversion has one operand"));
        };
        let signed = data.op == Op::Cast(CastOp::SiToFp);
        let to_float = self.src.ty(result) == Type::Float(FloatKind::Float);
        let x = self.vector(x, i)?;
        let mut doubles = self.floats(FloatKind::Double);
        let x = if to_float { doubles.rounded_to_odd(signed, x) } else { x };
        let double = doubles.long_to_double(signed, x);
        let new = match to_float {
            true => doubles.cast(CastOp::FpTrunc, double, Type::Float(FloatKind::Float)),
            false => double,
        };
        self.define(result, new);
        Ok(())
    }
}

impl Floats<'_, '_> {
    fn long_to_double(&mut self, signed: bool, x: Value) -> Value {
        let (two_52, two_84) = (2f64.powi(52), 2f64.powi(84));
        let moved = match signed {
            true => {
                let sign = self.integer(1 << 63);
                self.binary(BinaryOp::Xor, x, sign)
            }
            false => x,
        };
        let half = self.integer(32);
        let high = self.binary(BinaryOp::LShr, moved, half);
        let bits = self.integer(two_84.to_bits());
        let high = self.binary(BinaryOp::Or, high, bits);
        let high = self.as_float(high);
        let too_much = self.number(two_84 + two_52 + if signed { 2f64.powi(63) } else { 0.0 });
        let high = self.sub(high, too_much);
        let lower = self.integer(u64::from(u32::MAX));
        let low = self.binary(BinaryOp::And, moved, lower);
        let bits = self.integer(two_52.to_bits());
        let low = self.binary(BinaryOp::Or, low, bits);
        let low = self.as_float(low);
        self.add(high, low)
    }

    fn rounded_to_odd(&mut self, signed: bool, x: Value) -> Value {
        let lost = self.integer(LOST);
        let last = self.binary(BinaryOp::And, x, lost);
        // A carry into the first digit that stays, if one is lost.
        let carried = self.binary(BinaryOp::Add, last, lost);
        let either = self.binary(BinaryOp::Or, carried, x);
        let kept = self.integer(!LOST);
        let odd = self.binary(BinaryOp::And, either, kept);
        let (moved, bound) = match signed {
            true => {
                let least = self.integer(1 << 53);
                (self.binary(BinaryOp::Add, x, least), 1 << 54)
            }
            false => (x, 1 << 53),
        };
        let bound = self.integer(bound);
        let bools = self.of(Type::BOOL);
        let short = self.lower.emit(Op::ICmp(IntPred::Ule), &[moved, bound], bools);
        self.select(short, x, odd)
    }
}
