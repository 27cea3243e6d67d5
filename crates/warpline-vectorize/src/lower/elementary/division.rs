//! Divisions of integers by floating-point arithmetic: processors have vectors of the one and not of the other.
//!
//! **Small numbers.** For 0 ≤ x < 2⁴⁸ and 0 < d < 2⁴⁸ both are `double`s, and the quotient that is rounded to a
//! `double` is not less than the whole part of the true one, and less than the next whole number: what is missing to
//! that is 1/d at least, which is more than rounding adds. So its whole part is the integer quotient, and the remainder
//! is x − q·d, exact for the same reason. A divisor that all lanes share has its reciprocal taken once, made larger by
//! 2⁻⁵¹ of it so that no product is below the quotient; what that adds is less than 1/d still. Numbers of 32 bits are
//! all small; so are those of 8 and 16 bits to `float`, with less of everything.
//!
//! **Numbers of 64 bits** are looked at first. Where a lane has others, or signs, all are divided one after the other.
//! The index of a loop and the size of a row are small in practice.
//!
//! Small `double`s and integers of 64 bits become each other by the bits of 2⁵², whose last place is 1 (Warren,
//! *Hacker's Delight*, second edition, 17-3), since few machines convert them.

use std::collections::HashMap;

use warpline_ir::{BinaryOp, CastOp, FloatKind, FloatPred, Inst, IntPred, Op, Type, Value};

use super::Floats;
use crate::VectorizeError;
use crate::lower::{Lower, Rep};
use crate::recipes::Division;

/// The bits of 2⁵² as a `double`.
const TWO_52: u64 = 0x4330_0000_0000_0000;
/// Numbers below have as many bits.
const SMALL_BITS: u32 = 48;

/// Quotients and remainders that are there already, by the instruction that they were made for.
pub(in crate::lower) type Divided = HashMap<Inst, (Value, Value)>;

impl Lower<'_> {
    /// Divides integers that differ between lanes.
    pub(in crate::lower) fn divide(&mut self, i: Inst, division: Division) -> Result<(), VectorizeError> {
        let &[x, d] = &self.src.insts[i].args[..] else {
            return Err(self.internal(i, "a division has two operands"));
        };
        let made = match division {
            Division::IfSmall { signed } => self.divided_if_small(i, (x, d), signed)?,
            Division::AsLong => self.divided_as_long(i, (x, d))?,
            Division::AsNumbers { kind, narrow } => self.divided_as_numbers(i, (x, d), kind, narrow)?,
        };
        self.divided.insert(i, made);
        self.define_divided(i, i)
    }

    /// Defines the result of a division that was made before, for another instruction or for this one.
    pub(in crate::lower) fn define_divided(&mut self, i: Inst, before: Inst) -> Result<(), VectorizeError> {
        let Some(&(quotient, remainder)) = self.divided.get(&before) else {
            return Err(self.internal(i, "a division was not made"));
        };
        let data = &self.src.insts[i];
        let is_quotient = matches!(data.op, Op::Binary(BinaryOp::SDiv | BinaryOp::UDiv));
        self.define(data.results[0], if is_quotient { quotient } else { remainder });
        Ok(())
    }

    /// The division of unsigned numbers of 32 bits, as small ones of 64.
    fn divided_as_long(&mut self, i: Inst, (x, d): (Value, Value)) -> Result<(Value, Value), VectorizeError> {
        let operands = [self.vector(x, i)?, self.vector(d, i)?];
        let factor = self.factor(i, d, CastOp::UiToFp, FloatKind::Double)?;
        let mut floats = self.floats(FloatKind::Double);
        let [dividend, divisor] = operands.map(|v| floats.cast(CastOp::ZExt, v, Type::Int(64)));
        let (quotient, remainder) = floats.small_quotient(dividend, divisor, factor);
        Ok((
            floats.cast(CastOp::Trunc, quotient, Type::Int(32)),
            floats.cast(CastOp::Trunc, remainder, Type::Int(32)),
        ))
    }

    /// The division of numbers that are signed ones of 32 bits, or become such: `narrow` says how, and how many bits
    /// they have.
    fn divided_as_numbers(
        &mut self,
        i: Inst,
        (x, d): (Value, Value),
        kind: FloatKind,
        narrow: Option<(CastOp, u32)>,
    ) -> Result<(Value, Value), VectorizeError> {
        let operands = [self.vector(x, i)?, self.vector(d, i)?];
        let unsigned = matches!(narrow, Some((CastOp::ZExt, _)));
        let factor = self.factor(i, d, if unsigned { CastOp::UiToFp } else { CastOp::SiToFp }, kind)?;
        let mut floats = self.floats(kind);
        let [dividend, divisor] = operands.map(|v| match narrow {
            Some((widen, _)) => floats.cast(widen, v, Type::Int(32)),
            None => v,
        });
        let [x, d] = [dividend, divisor].map(|v| floats.cast(CastOp::SiToFp, v, Type::Float(kind)));
        let exact = floats.quotient(x, d, factor);
        let quotient = floats.cast(CastOp::FpToSi, exact, Type::Int(32));
        let product = floats.binary(BinaryOp::Mul, quotient, divisor);
        let remainder = floats.binary(BinaryOp::Sub, dividend, product);
        let [quotient, remainder] = [quotient, remainder].map(|v| match narrow {
            Some((_, bits)) => floats.cast(CastOp::Trunc, v, Type::Int(bits)),
            None => v,
        });
        Ok((quotient, remainder))
    }

    /// A reciprocal that is a little too large, of a divisor that all lanes share, which `op` makes a number.
    fn factor(
        &mut self,
        i: Inst,
        d: Value,
        op: CastOp,
        kind: FloatKind,
    ) -> Result<Option<Value>, VectorizeError> {
        if self.reps[d] != Rep::Uniform {
            return Ok(None);
        }
        let d = self.scalar(d, i)?;
        let mut floats = Floats { lower: self, lanes: 1, kind };
        let d = floats.cast(op, d, Type::Float(kind));
        let one = floats.number(1.0);
        let reciprocal = floats.binary(BinaryOp::FDiv, one, d);
        let more =
            floats.number(1.0 + if kind == FloatKind::Double { 2f64.powi(-51) } else { 2f64.powi(-22) });
        let factor = floats.mul(reciprocal, more);
        self.splat(factor, i).map(Some)
    }

    /// The division of numbers of 64 bits: together, if all active lanes have small ones.
    fn divided_if_small(
        &mut self,
        i: Inst,
        (x, d): (Value, Value),
        signed: bool,
    ) -> Result<(Value, Value), VectorizeError> {
        let large = self.any_large(i, x, d)?;
        let before = self.block;
        let [together, apart, after] = [(); 3].map(|()| self.out.add_block(""));
        self.out.set_terminator(before, Op::CondBr, &[large], &[apart, together]);
        self.block = together;
        let [dividend, divisor] = [self.vector(x, i)?, self.vector(d, i)?];
        let factor = self.factor(i, d, CastOp::UiToFp, FloatKind::Double)?;
        let small = self.floats(FloatKind::Double).small_quotient(dividend, divisor, factor);
        let end = self.block;
        self.out.set_terminator(end, Op::Br, &[], &[after]);
        self.block = apart;
        let [dividend, divisor] = [self.vector(x, i)?, self.vector(d, i)?];
        let (division, modulo) = match signed {
            true => (BinaryOp::SDiv, BinaryOp::SRem),
            false => (BinaryOp::UDiv, BinaryOp::URem),
        };
        let divisor = self.safe_divisor(i, division, divisor)?;
        let ty = self.out.ty(dividend);
        let quotient = self.emit(Op::Binary(division), &[dividend, divisor], ty);
        let remainder = self.emit(Op::Binary(modulo), &[dividend, divisor], ty);
        let end = self.block;
        self.out.set_terminator(end, Op::Br, &[], &[after]);
        self.block = after;
        let joined = [(small.0, quotient), (small.1, remainder)].map(|(small, other)| {
            let phi = self.out.add_phi(after, ty);
            (phi, small, other)
        });
        for e in self.out.blocks[after].preds.clone() {
            let is_apart = self.out.edges[e].from == end;
            for (k, &(_, small, other)) in joined.iter().enumerate() {
                self.out.set_phi_arg(e, k, if is_apart { other } else { small });
            }
        }
        Ok((joined[0].0, joined[1].0))
    }

    /// Whether an active lane has a number that is not small, or zero as its divisor.
    fn any_large(&mut self, i: Inst, x: Value, d: Value) -> Result<Value, VectorizeError> {
        let mut found: Option<Value> = None;
        for (v, zero_counts) in [(x, false), (d, true)] {
            let step = match self.reps[v] {
                Rep::Uniform => Some(0),
                // Then the other lanes' numbers are small, too.
                Rep::Strided(step) if (0..1 << 32).contains(&step) => Some(step),
                _ => None,
            };
            let large = match step {
                Some(step) => {
                    let of_first = self.scalar(v, i)?;
                    let of_first = self.emit(Op::Freeze, &[of_first], Type::Int(64));
                    let least = u64::from(zero_counts);
                    let room = (step as u64) * u64::from(self.width);
                    self.outside(of_first, least, (1 << SMALL_BITS) - room, Type::BOOL)
                }
                None => {
                    let vector = self.vector(v, i)?;
                    let ty = self.out.ty(vector);
                    let mut vector = self.emit(Op::Freeze, &[vector], ty);
                    if let Some(mask) = self.mask_vector(i)? {
                        let one = self.floats(FloatKind::Double).integer(1);
                        vector = self.select(mask, vector, one);
                    }
                    let bools = Type::BOOL.vector(self.width).expect("booleans are scalars");
                    let large = self.outside(vector, zero_counts.into(), 1 << SMALL_BITS, bools);
                    self.any_of(large)
                }
            };
            found = Some(match found {
                Some(other) => self.emit(Op::Binary(BinaryOp::Or), &[other, large], Type::BOOL),
                None => large,
            });
        }
        Ok(found.expect("there are two numbers"))
    }

    /// Whether numbers of 64 bits are not in `least..end`.
    fn outside(&mut self, x: Value, least: u64, end: u64, bools: Type) -> Value {
        let ty = self.out.ty(x);
        let lanes = if ty == Type::Int(64) { 1 } else { self.width };
        let mut floats = Floats { lower: self, lanes, kind: FloatKind::Double };
        let (least, count) = (floats.integer(least), floats.integer(end - least));
        let from = floats.binary(BinaryOp::Sub, x, least);
        self.emit(Op::ICmp(IntPred::Uge), &[from, count], bools)
    }
}

impl Floats<'_, '_> {
    /// What a division of numbers comes to; the `factor` stands for the divisor, if there is one.
    fn quotient(&mut self, x: Value, d: Value, factor: Option<Value>) -> Value {
        match factor {
            Some(factor) => self.mul(x, factor),
            None => self.binary(BinaryOp::FDiv, x, d),
        }
    }

    /// Quotient and remainder of small integers of 64 bits; the `factor` stands for the divisor, if there is one.
    fn small_quotient(&mut self, x: Value, d: Value, factor: Option<Value>) -> (Value, Value) {
        let (dividend, divisor) = (self.small_to_double(x), self.small_to_double(d));
        let exact = self.quotient(dividend, divisor, factor);
        // The whole part: the nearest whole number, or the one below it.
        let two_52 = self.number(2f64.powi(52));
        let shifted = self.add(exact, two_52);
        let nearest = self.sub(shifted, two_52);
        let above = self.compare(FloatPred::Ogt, nearest, exact);
        let (one, zero) = (self.number(1.0), self.number(0.0));
        let less = self.select(above, one, zero);
        let quotient = self.sub(nearest, less);
        let product = self.mul(quotient, divisor);
        let remainder = self.sub(dividend, product);
        (self.small_to_integer(quotient), self.small_to_integer(remainder))
    }

    fn small_to_double(&mut self, x: Value) -> Value {
        let bits = self.integer(TWO_52);
        let both = self.binary(BinaryOp::Or, x, bits);
        let number = self.as_float(both);
        let two_52 = self.number(2f64.powi(52));
        self.sub(number, two_52)
    }

    fn small_to_integer(&mut self, x: Value) -> Value {
        let two_52 = self.number(2f64.powi(52));
        let number = self.add(x, two_52);
        let bits = self.bits(number);
        let of_two_52 = self.integer(TWO_52);
        self.binary(BinaryOp::Xor, bits, of_two_52)
    }
}
