//! Elementary functions on vectors of `float` and `double`, expanded inline where they are called; `division`,
//! `saturating`, `long_conversions`: operations on integers that floating-point arithmetic does faster.
//!
//! A call of a library of vector mathematics keeps nothing in vector registers, waits for the call before it, and
//! loads its constants anew. Written out, the functions of a kernel overlap, and no argument leaves a fast path. Inactive
//! lanes get a harmless argument where the result might be a denormal number, since some processors take a hundred times
//! as long for what is computed of these. The argument is reduced to a small interval, where a polynomial is
//! near; what is special about zeros, infinities, NaNs and numbers below the normal ones is chosen afterwards. The
//! coefficients are those that `tools/elementary-coefficients.py` prints. Reductions rest on fused multiplication and
//! addition, so that the functions are for machines that have it as an instruction ([`MathLibrary::inline_expansion`]).
//!
//! How far results are from the true ones at most, rounding to nearest, in units in the last place, says
//! [`Elementary::max_ulp`]. The tests of `warpline-llvm` measure it: of all arguments for functions of one (found:
//! 0.88 for `expf` and `exp2f`, 0.94 for `logf`, 1.99 for `log2f`, 2.04 for `log10f`), of a thousand million for
//! `powf` (2.15). For the functions on `double` they measure four hundred million arguments each, a third of them
//! near the borders where the computation passes from one case to another (found: 0.87 for `exp`, 0.89 for `exp2`,
//! 0.73 for `log`, 0.88 for `log2`, 0.88 for `log10`); what the operations can lose adds up to less than 1 for each,
//! by hand.
//!
//! [`MathLibrary::inline_expansion`]: crate::MathLibrary::inline_expansion

mod division;
mod exact;
mod exp;
mod log;
mod log_double;
mod long_conversions;
mod pow;
mod saturating;

pub(super) use division::Divided;

use crate::VectorizeError;
use crate::elementary::{Elementary, Function};
use warpline_ir::{BinaryOp, CastOp, Constant, Effects, FloatKind, FloatPred, Inst, Op, Type, Value};

use super::{Lower, Rep};

impl<'m> Lower<'m> {
    /// Writes a function out for all lanes of a call.
    pub(super) fn elementary(&mut self, i: Inst, called: Elementary) -> Result<Value, VectorizeError> {
        let args = self.src.insts[i].args.clone();
        let mut x = self.vector(args[0], i)?;
        let kind = called.kind;
        if called.function.may_underflow()
            && let Some(mask) = self.mask_vector(i)?
        {
            let harmless = self.harmless_argument(i, self.out.ty(x));
            x = self.select(mask, x, harmless);
        }
        Ok(match called.function {
            Function::Exp => self.floats(kind).exp(x),
            Function::Exp2 => self.floats(kind).exp2(x),
            Function::Log => self.floats(kind).log(x),
            Function::Log2 => self.floats(kind).log2(x),
            Function::Log10 => self.floats(kind).log10(x),
            Function::Pow => {
                let exponent = self.exponent_of_pow(args[1], i)?;
                self.floats(kind).pow(x, exponent)
            }
        })
    }

    /// What `powf` needs of its exponent in vectors; computed once where it is uniform.
    fn exponent_of_pow(&mut self, y: Value, i: Inst) -> Result<pow::Exponent, VectorizeError> {
        let kind = FloatKind::Float;
        if self.reps[y] != Rep::Uniform {
            let y = self.vector(y, i)?;
            return Ok(self.floats(kind).exponent(y));
        }
        let y = self.scalar(y, i)?;
        let mut parts = Floats { lower: self, lanes: 1, kind }.exponent(y);
        for part in &mut parts {
            *part = self.splat(*part, i)?;
        }
        Ok(parts)
    }

    /// Operations on all lanes.
    fn floats(&mut self, kind: FloatKind) -> Floats<'_, 'm> {
        Floats { lanes: self.width, lower: self, kind }
    }
}

/// Operations on `float`s or `double`s and on their bits, as vectors of so many lanes; on scalars, if there is one
/// lane.
struct Floats<'l, 'm> {
    lower: &'l mut Lower<'m>,
    lanes: u32,
    kind: FloatKind,
}

impl Floats<'_, '_> {
    fn of(&self, scalar: Type) -> Type {
        if self.lanes == 1 { scalar } else { scalar.vector(self.lanes).expect("elements are scalars") }
    }

    fn float_type(&self) -> Type {
        self.of(Type::Float(self.kind))
    }

    fn is_double(&self) -> bool {
        self.kind == FloatKind::Double
    }

    /// How many bits numbers have.
    fn width(&self) -> u32 {
        if self.is_double() { 64 } else { 32 }
    }

    fn constant(&mut self, c: Constant) -> Value {
        let whole = if self.lanes == 1 { c } else { Constant::vector(vec![c; self.lanes as usize]) };
        self.lower.out.constant_value(whole)
    }

    /// A constant; one that is no `float` is rounded where numbers are.
    fn number(&mut self, x: impl Into<f64>) -> Value {
        let x = x.into();
        let bits = if self.is_double() { x.to_bits() } else { u64::from((x as f32).to_bits()) };
        self.constant(Constant::Float { kind: self.kind, bits: u128::from(bits) })
    }

    fn integer(&mut self, x: u64) -> Value {
        self.constant(Constant::int(self.width(), u128::from(x)))
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.lower.out.ty(a);
        self.lower.emit(Op::Binary(op), &[a, b], ty)
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::FAdd, a, b)
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::FSub, a, b)
    }

    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::FMul, a, b)
    }

    fn neg(&mut self, a: Value) -> Value {
        let ty = self.lower.out.ty(a);
        self.lower.emit(Op::FNeg, &[a], ty)
    }

    /// `a · b`, rounded, and what the rounding lost.
    fn product(&mut self, a: Value, b: Value) -> (Value, Value) {
        let rounded = self.mul(a, b);
        let minus = self.neg(rounded);
        (rounded, self.fma(a, b, minus))
    }

    /// `a · b + c`, rounded once.
    fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.float_type();
        self.intrinsic("llvm.fma", &[a, b, c], ty)
    }

    fn intrinsic(&mut self, base: &str, args: &[Value], ty: Type) -> Value {
        let name = format!("{base}.{}", super::memory::mangle(ty));
        self.lower.call_named(&name, args, ty, Effects::empty()).expect("an intrinsic with a result")
    }

    fn compare(&mut self, pred: FloatPred, a: Value, b: Value) -> Value {
        let ty = self.of(Type::BOOL);
        self.lower.emit(Op::FCmp(pred), &[a, b], ty)
    }

    fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.lower.select(cond, a, b)
    }

    fn cast(&mut self, op: CastOp, a: Value, scalar: Type) -> Value {
        let ty = self.of(scalar);
        self.lower.emit(Op::Cast(op), &[a], ty)
    }

    fn bits(&mut self, a: Value) -> Value {
        self.cast(CastOp::Bitcast, a, Type::Int(self.width()))
    }

    fn as_float(&mut self, a: Value) -> Value {
        self.cast(CastOp::Bitcast, a, Type::Float(self.kind))
    }

    /// The polynomial with these coefficients, the constant term first, by Horner's rule.
    fn polynomial<C: Copy + Into<f64>>(&mut self, x: Value, coefficients: &[C]) -> Value {
        let (&highest, rest) = coefficients.split_last().expect("a polynomial has coefficients");
        let mut sum = self.number(highest);
        for &c in rest.iter().rev() {
            let c = self.number(c);
            sum = self.fma(sum, x, c);
        }
        sum
    }

    /// `x` within `low ..= high`; NaNs stay.
    fn clamp(&mut self, x: Value, low: impl Into<f64>, high: impl Into<f64>) -> Value {
        let (low, high) = (self.number(low), self.number(high));
        let below = self.compare(FloatPred::Olt, x, low);
        let x = self.select(below, low, x);
        let above = self.compare(FloatPred::Ogt, x, high);
        self.select(above, high, x)
    }
}
