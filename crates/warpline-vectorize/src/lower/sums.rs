//! Sums of narrow integers by the instructions that x86 has for them.

use crate::VectorizeError;
use crate::recipes::{Sum, Summand};
use warpline_ir::{BinaryOp, CastOp, Constant, Effects, Inst, Op, Type, Value};

use super::Lower;

/// The names of an instruction for registers of 128, 256 and 512 bits.
pub(super) type Names = [&'static str; 3];

const BYTES: Names = ["llvm.x86.sse2.psad.bw", "llvm.x86.avx2.psad.bw", "llvm.x86.avx512.psad.bw.512"];
pub(super) const PRODUCTS: Names =
    ["llvm.x86.sse2.pmadd.wd", "llvm.x86.avx2.pmadd.wd", "llvm.x86.avx512.pmaddw.d.512"];

/// The name for registers of so many bits.
pub(super) fn of_size(names: Names, bits: u32) -> &'static str {
    names[(bits / 256).min(2) as usize]
}

impl Lower<'_> {
    /// Adds what each group of neighbouring lanes gives together to the first lanes of the sum.
    pub(super) fn sum(&mut self, i: Inst, sum: &Sum) -> Result<(), VectorizeError> {
        let ty = self.src.ty(self.src.insts[i].results[0]);
        let under = sum.under.filter(|&(condition, _)| sum.what != Summand::Byte(condition));
        let (whole, bits, names) = match sum.what {
            Summand::Byte(x) => {
                let x = self.bytes(x, i)?;
                let x = self.where_added(under, x, None, i)?;
                let nothing = self.out.constant_value(Constant::Zero(self.out.ty(x)));
                ([x, nothing], 64, BYTES)
            }
            Summand::Distance([x, y]) => {
                let [x, y] = [self.vector(x, i)?, self.vector(y, i)?];
                let y = self.settled(under, y);
                ([self.where_added(under, x, Some(y), i)?, y], 64, BYTES)
            }
            Summand::Short { x, is_signed } => {
                let x = self.vector(x, i)?;
                let x = self.where_added(under, x, None, i)?;
                let ones = self.splat_of(x, 1);
                // An unsigned number less half of what there are is a signed one.
                let half = self.splat_of(x, 0x8000);
                let ty = self.out.ty(x);
                let x = if is_signed { x } else { self.emit(Op::Binary(BinaryOp::Xor), &[x, half], ty) };
                ([x, ones], 32, PRODUCTS)
            }
            Summand::Product([x, y]) | Summand::Bytes { factors: [x, y], .. } => {
                let [x, y] = [self.vector(x, i)?, self.vector(y, i)?];
                let y = self.settled(under, y);
                ([self.where_added(under, x, None, i)?, y], 32, PRODUCTS)
            }
        };
        if let Summand::Bytes { signed, .. } = sum.what {
            let parts = self.products_of_bytes(whole, signed, sum.together);
            return self.add_parts(i, sum, parts);
        }
        let elem = Type::Int(sum.what.bits());
        let part = elem.vector(sum.together).expect("an integer is a scalar");
        let gives = sum.together * sum.what.bits() / bits;
        let part_sum = Type::Int(bits).vector(gives).expect("an integer is a scalar");
        let name = of_size(names, sum.together * sum.what.bits());
        let mut parts = Vec::new();
        for first in (0..self.width).step_by(sum.together as usize) {
            let args = whole.map(|x| self.lanes_from(x, first, part));
            let mut made = self.call_named(name, &args, part_sum, Effects::empty()).expect("it has a result");
            if matches!(sum.what, Summand::Short { is_signed: false, .. }) {
                let both_halves = self.splat_of(made, 0x1_0000);
                made = self.emit(Op::Binary(BinaryOp::Add), &[made, both_halves], part_sum);
            }
            parts.push(made);
        }
        if bits == 32 && ty == Type::Int(64) {
            parts = vec![self.widened(parts, sum)];
        }
        self.add_parts(i, sum, parts)
    }

    /// Sums of the products of neighbouring bytes, made shorts: of each register, of both halves of its blocks.
    fn products_of_bytes(&mut self, whole: [Value; 2], signed: [bool; 2], together: u32) -> Vec<Value> {
        let bytes = Type::Int(8).vector(together).expect("an integer is a scalar");
        let sums = Type::Int(32).vector(together / 4).expect("an integer is a scalar");
        let name = of_size(PRODUCTS, together * 8);
        let mut parts = Vec::new();
        for first in (0..self.width).step_by(together as usize) {
            let [x, y] = whole.map(|x| self.lanes_from(x, first, bytes));
            let [x, y] = [(x, signed[0]), (y, signed[1])].map(|(x, signed)| self.unpacked(x, signed));
            let [low, high] = [0, 1].map(|half| {
                let made = self.call_named(name, &[x[half], y[half]], sums, Effects::empty());
                made.expect("it has a result")
            });
            parts.push(self.emit(Op::Binary(BinaryOp::Add), &[low, high], sums));
        }
        parts
    }

    /// Adds the parts of what is added to a sum, in its first lanes.
    fn add_parts(&mut self, i: Inst, sum: &Sum, parts: Vec<Value>) -> Result<(), VectorizeError> {
        let result = self.src.insts[i].results[0];
        let ty = self.src.ty(result);
        let made = self.spread_out(parts, ty);
        let to = self.vector(sum.to, i)?;
        let vector = self.out.ty(to);
        let op = if sum.subtracts { BinaryOp::Sub } else { BinaryOp::Add };
        let new = self.emit(Op::Binary(op), &[to, made], vector);
        self.define(result, new);
        Ok(())
    }

    /// A number in all elements of a vector like another one.
    pub(super) fn splat_of(&mut self, like: Value, number: u128) -> Value {
        let ty = self.out.ty(like);
        let (elem, lanes) = match ty {
            Type::Vector(v) => (Type::from(v.elem), v.lanes as usize),
            _ => (ty, 1),
        };
        let one = Constant::Int { bits: elem.int_bits().unwrap_or(64), value: number };
        self.out.constant_value(Constant::Composite { ty, elems: vec![one; lanes] })
    }

    /// A vector of which lanes that add nothing may be undefined, where that must not matter.
    fn settled(&mut self, under: Option<(Value, bool)>, x: Value) -> Value {
        let ty = self.out.ty(x);
        if under.is_some() { self.emit(Op::Freeze, &[x], ty) } else { x }
    }

    /// A vector in the lanes that add something, and another one, or zeros, in those that do not.
    fn where_added(
        &mut self,
        under: Option<(Value, bool)>,
        x: Value,
        other: Option<Value>,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let Some((condition, is_opposite)) = under else { return Ok(x) };
        let condition = self.vector(condition, at)?;
        let other = other.unwrap_or_else(|| self.out.constant_value(Constant::Zero(self.out.ty(x))));
        let [yes, no] = if is_opposite { [other, x] } else { [x, other] };
        Ok(self.select(condition, yes, no))
    }

    /// A vector of bytes, or of truth values as bytes.
    fn bytes(&mut self, x: Value, at: Inst) -> Result<Value, VectorizeError> {
        let ty = self.src.ty(x);
        let x = self.vector(x, at)?;
        if ty == Type::Int(8) {
            return Ok(x);
        }
        let bytes = Type::Int(8).vector(self.width).expect("an integer is a scalar");
        Ok(self.emit(Op::Cast(CastOp::ZExt), &[x], bytes))
    }

    /// Sums of few shorts, all together, in elements of 64 bits.
    fn widened(&mut self, parts: Vec<Value>, sum: &Sum) -> Value {
        let ty = self.out.ty(parts[0]);
        let add = |lower: &mut Self, x, y| lower.emit(Op::Binary(BinaryOp::Add), &[x, y], ty);
        let whole = parts.into_iter().reduce(|x, y| add(self, x, y)).expect("there is a part");
        let wide = Type::Int(64).vector(sum.together / 2).expect("an integer is a scalar");
        self.emit(Op::Cast(CastOp::SExt), &[whole], wide)
    }

    /// The parts of a sum as elements of a type in the first lanes, with zeros in the others.
    fn spread_out(&mut self, parts: Vec<Value>, ty: Type) -> Value {
        let whole = self.joined(parts);
        let bits = ty.int_bits().unwrap_or(64);
        let has = match self.out.ty(whole) {
            Type::Vector(v) => v.lanes * Type::from(v.elem).int_bits().unwrap_or(64) / bits,
            _ => return whole,
        };
        let small = ty.vector(has).expect("an integer is a scalar");
        let whole = match self.out.ty(whole) == small {
            true => whole,
            false => self.emit(Op::Cast(CastOp::Bitcast), &[whole], small),
        };
        let zeros = self.out.constant_value(Constant::Zero(small));
        let places = (0..self.width).map(|k| k.min(has) as i32).collect();
        let vector = ty.vector(self.width).expect("an integer is a scalar");
        self.emit(Op::Shuffle(places), &[whole, zeros], vector)
    }
}
