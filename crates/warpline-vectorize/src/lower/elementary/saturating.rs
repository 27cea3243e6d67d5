//! Conversions of floating-point numbers to integers that saturate, as Rust's `as` does: `llvm.fptosi.sat` and
//! `llvm.fptoui.sat`, for which code generators have no vectors on most machines.
//!
//! A number is brought into the range of the integers by comparisons, converted, and what is special is chosen: zero
//! for NaNs; the greatest integer where that is no floating-point number, so that the range ends below it.

use warpline_ir::{CastOp, Constant, FloatKind, FloatPred, Op, Scalar, Type, Value};

use super::Floats;
use crate::lower::Lower;

impl Lower<'_> {
    /// The conversion of a vector of numbers to one of integers of type `ty`; `None` of types that are left to the code
    /// generator.
    pub(in crate::lower) fn saturating(&mut self, signed: bool, x: Value, ty: Type) -> Option<Value> {
        let Some(Scalar::Int(bits)) = ty.elem() else { return None };
        let kind = match self.out.ty(x).elem()? {
            Scalar::Float(kind @ (FloatKind::Float | FloatKind::Double)) => kind,
            _ => return None,
        };
        let fits = matches!(bits, 8 | 16 | 32 | 64) && self.width > 1;
        fits.then(|| self.floats(kind).saturating(signed, bits, x))
    }
}

impl Floats<'_, '_> {
    fn saturating(&mut self, signed: bool, bits: u32, x: Value) -> Value {
        let digits = if self.is_double() { 53 } else { 24 };
        let magnitude = if signed { bits - 1 } else { bits };
        let (least, beyond) =
            (if signed { -2f64.powi(bits as i32 - 1) } else { 0.0 }, 2f64.powi(magnitude as i32));
        let is_exact = magnitude <= digits;
        let most = if is_exact { beyond - 1.0 } else { beyond - 2f64.powi((magnitude - digits) as i32) };
        let (least, most) = (self.number(least), self.number(most));
        // NaNs are not above, so they become the least number.
        let above = self.compare(FloatPred::Ogt, x, least);
        let low = self.select(above, x, least);
        let below = self.compare(FloatPred::Olt, low, most);
        let clamped = self.select(below, low, most);
        // Conversions to integers of 32 bits are the ones that machines have.
        let through = bits.max(32);
        let op = if signed || bits < 32 { CastOp::FpToSi } else { CastOp::FpToUi };
        let wide = self.cast(op, clamped, Type::Int(through));
        let wide = match is_exact {
            true => wide,
            false => {
                let top = if signed { u128::MAX >> (129 - bits) } else { u128::MAX >> (128 - bits) };
                let top = self.constant(Constant::int(bits, top));
                let beyond = self.number(beyond);
                let is_beyond = self.compare(FloatPred::Oge, x, beyond);
                self.select(is_beyond, top, wide)
            }
        };
        let whole = match through > bits {
            true => self.cast(CastOp::Trunc, wide, Type::Int(bits)),
            false => wide,
        };
        // The least unsigned number is zero, which NaNs become.
        if !signed {
            return whole;
        }
        let number = self.compare(FloatPred::Ord, x, x);
        let ty = self.lower.out.ty(whole);
        let zero = self.lower.out.constant_value(Constant::Zero(ty));
        self.lower.emit(Op::Select, &[number, whole, zero], ty)
    }
}
