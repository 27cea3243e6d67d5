//! Recipes of elementwise instructions.

use warpline_ir::{BinaryOp, CastOp, FloatKind, Inst, Op, Type, Value};

use super::known_offsets::Lanes;
use super::{Planner, Recipe, Rep};
use crate::VectorizeError;
use crate::exact::{Exact, Function};

/// How integers are divided by floating-point arithmetic.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Division {
    /// Numbers of 64 bits: together if all active lanes have small ones, else one after the other.
    IfSmall {
        /// Whether the numbers have signs.
        signed: bool,
    },
    /// Unsigned numbers of 32 bits, as small ones of 64.
    AsLong,
    /// Numbers that are signed ones of 32 bits, or become such.
    AsNumbers {
        /// The arithmetic.
        kind: FloatKind,
        /// How they become such, and how many bits they have.
        narrow: Option<(CastOp, u32)>,
    },
}

impl Planner<'_> {
    /// The recipe of arithmetic, comparisons, conversions, aggregates.
    pub(super) fn operation(&mut self, i: Inst) -> Result<Recipe, VectorizeError> {
        let data = &self.func.insts[i];
        let Some(result) = data.result() else {
            return Err(self.error(i, format!("`{}` cannot be vectorized yet", data.op.name())));
        };
        let in_order = self.rep(result) == Rep::Varying && !self.unpacked.is_inside(result);
        let known = self.offsets.bent(result).filter(|_| in_order);
        if let Some(known) = known.and_then(Lanes::constants).filter(|_| self.func.ty(result).is_int()) {
            return Ok(Recipe::Known(known.into()));
        }
        let unguarded = self.is_unguarded_division(i);
        Ok(match self.rep(result) {
            rep if self.is_wide_division(i) && (rep == Rep::Varying || unguarded) => self.scalarize(i),
            // No lane may be active here, so not even a uniform divisor may be trusted.
            Rep::Uniform if unguarded => Recipe::WidenThenFirst,
            Rep::Varying if self.is_permuted(i) => Recipe::Truncate,
            Rep::Varying => self.by_floats(i).unwrap_or(Recipe::Widen),
            Rep::Uniform | Rep::Strided(_) => Recipe::Once,
        })
    }

    /// Whether an instruction makes narrower integers of ones that fill pairs of registers, where an instruction takes
    /// any bytes or shorts of two: conversions take several for each, and one to put their results together.
    fn is_permuted(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let bits = |v: Value| self.func.ty(v).int_bits();
        let (Op::Cast(CastOp::Trunc), &[x], &[result]) = (&data.op, &data.args[..], &data.results[..]) else {
            return false;
        };
        let machine = &self.options.machine;
        let (Some(from), Some(to)) = (bits(x), bits(result)) else { return false };
        let fits = matches!((from, to), (16 | 32, 8) | (32, 16));
        fits && machine.permutes_bytes()
            && (self.width * from).is_multiple_of(2 * machine.register_bits)
            && self.rep(x) == Rep::Varying
    }

    /// What floating-point arithmetic does for instructions that have no vectors, or slow ones.
    fn by_floats(&mut self, i: Inst) -> Option<Recipe> {
        if self.width < 2 {
            return None;
        }
        let remainder = self.remainder_function(i).map(Recipe::Exact);
        remainder.or_else(|| self.division(i)).or_else(|| self.long_conversion(i))
    }

    /// `fmod`, where an instruction is `frem`, for which processors and LLVM have no vectors.
    fn remainder_function(&self, i: Inst) -> Option<Exact> {
        let data = &self.func.insts[i];
        let Type::Float(kind) = self.func.ty(*data.results.first()?) else { return None };
        let known = matches!(kind, FloatKind::Float | FloatKind::Double);
        let function = Exact { function: Function::Fmod, kind };
        (data.op == Op::Binary(BinaryOp::FRem) && known).then_some(function)
    }

    /// A division of integers that differ between lanes; `None` where the code generator is better.
    fn division(&mut self, i: Inst) -> Option<Recipe> {
        let data = &self.func.insts[i];
        let (Op::Binary(op), &[x, d], &[result]) = (&data.op, &data.args[..], &data.results[..]) else {
            return None;
        };
        let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
        let Type::Int(bits @ (8 | 16 | 32 | 64)) = self.func.ty(result) else { return None };
        // Constants become multiplications.
        if !op.is_int_division() || self.func.constant(d).is_some() {
            return None;
        }
        let key = (data.block, x, d, signed);
        if let Some(&before) = self.divisions.get(&key) {
            return Some(Recipe::Divided(before));
        }
        self.divisions.insert(key, i);
        Some(Recipe::Divide(match (bits, signed) {
            (64, _) => Division::IfSmall { signed },
            (32, false) => Division::AsLong,
            (32, true) => Division::AsNumbers { kind: FloatKind::Double, narrow: None },
            _ => {
                let widen = if signed { CastOp::SExt } else { CastOp::ZExt };
                Division::AsNumbers { kind: FloatKind::Float, narrow: Some((widen, bits)) }
            }
        }))
    }

    /// The conversion of integers of 64 bits, if an instruction is one and the machine has none.
    fn long_conversion(&self, i: Inst) -> Option<Recipe> {
        let data = &self.func.insts[i];
        let (Op::Cast(op @ (CastOp::SiToFp | CastOp::UiToFp)), &[x], &[result]) =
            (&data.op, &data.args[..], &data.results[..])
        else {
            return None;
        };
        let lacking = match self.func.ty(result) {
            Type::Float(FloatKind::Float) => true,
            // Code generators do the unsigned ones in the same way.
            Type::Float(FloatKind::Double) => *op == CastOp::SiToFp,
            _ => false,
        };
        let by_parts =
            lacking && self.func.ty(x) == Type::Int(64) && !self.options.math.converts_long_integers();
        by_parts.then_some(Recipe::LongConversion)
    }

    fn is_unguarded_division(&self, i: Inst) -> bool {
        matches!(self.func.insts[i].op, Op::Binary(op) if op.is_int_division())
            && self.block_mask(i).is_some()
            && !self.input.guarded.contains(i)
    }

    /// Whether a division is of integers for which processors and LLVM have no vectors.
    fn is_wide_division(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let bits = data.result().and_then(|v| self.func.ty(v).int_bits());
        matches!(data.op, Op::Binary(op) if op.is_int_division()) && bits.is_some_and(|b| b > 128)
    }
}
