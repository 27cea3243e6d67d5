//! Packed stores, as their [recipe](crate::recipes) says.

use crate::VectorizeError;
use crate::elements::element_of;
use crate::recipes::{Packed, Rep};
use warpline_ir::{BinaryOp, CastOp, Combine, Constant, Effects, Inst, IntPred, Op, Type, Value};

use super::super::Lower;
use super::mangle;

/// The indices of eight words as bytes, from the lowest byte on.
const IN_ORDER: u64 = 0x0706_0504_0302_0100;

/// Some lanes of a packed store.
struct Part {
    /// Their elements, as integers.
    elements: Value,
    /// Which of them are stored.
    mask: Value,
    /// The mask, and how many lanes it has, as 64 bits.
    bits: Value,
    count: Value,
    /// How many lanes there are.
    lanes: u32,
}

impl Lower<'_> {
    /// Stores the elements of active lanes one behind the other. The result is how many there are.
    pub(in crate::lower) fn pack(&mut self, i: Inst, packed: Packed) -> Result<(), VectorizeError> {
        let args = self.src.insts[i].args.clone();
        let wants = self.among_active(args[2], i)?;
        let x = self.vector(args[1], i)?;
        let count = match packed {
            Packed::Compressed(together) | Packed::Permuted(together) => {
                let to = self.scalar(args[0], i)?;
                let elem = self.src.ty(args[1]);
                let compressed = matches!(packed, Packed::Compressed(_));
                self.pack_parts((x, elem), to, wants, together, compressed)
            }
            Packed::Native => {
                let to = self.scalar(args[0], i)?;
                let name = format!("llvm.masked.compressstore.{}", mangle(self.out.ty(x)));
                self.call_named(&name, &[x, to, wants], Type::Void, WRITES);
                self.count_lanes(wants)
            }
            Packed::Scattered => {
                self.scatter_packed(&args, (x, wants), i)?;
                self.count_lanes(wants)
            }
        };
        let result = self.src.insts[i].results[0];
        debug_assert!(self.reps[result] == Rep::Uniform, "lanes agree on how many stored");
        self.define(result, count);
        Ok(())
    }

    /// Packs each register of elements and stores what is in it behind what the registers before it had.
    fn pack_parts(
        &mut self,
        (x, elem): (Value, Type),
        to: Value,
        wants: Value,
        together: u32,
        compressed: bool,
    ) -> Value {
        let bits = element_of(elem).bits();
        let (int, long) = (Type::Int(bits), Type::Int(64));
        let whole = self.reinterpreted(x, int.vector(self.width));
        let bools = Type::BOOL.vector(together).expect("a truth value is a scalar");
        let vector = int.vector(together).expect("an integer is a scalar");
        let mut stored = self.out.int_const(64, 0);
        for first in (0..self.width).step_by(together as usize) {
            let elements = self.lanes_from(whole, first, vector);
            let mask = self.lanes_from(wants, first, bools);
            let bits = self.emit(Op::Cast(CastOp::Bitcast), &[mask], Type::Int(together));
            let bits = if together == 64 { bits } else { self.emit(Op::Cast(CastOp::ZExt), &[bits], long) };
            let count = self.result_of("llvm.ctpop.i64", &[bits], long);
            let part = Part { elements, mask, bits, count, lanes: together };
            let (brought, mask) =
                if compressed { self.compressed(&part) } else { self.permuted_words(&part) };
            let place = self.emit(Op::Gep(int), &[to, stored], Type::PTR);
            let align = self.out.int_const(32, 1);
            let name = format!("llvm.masked.store.{}.p0", mangle(vector));
            self.call_named(&name, &[brought, place, align, mask], Type::Void, WRITES);
            stored = self.emit(Op::Binary(BinaryOp::Add), &[stored, count], long);
        }
        self.emit(Op::Cast(CastOp::Trunc), &[stored], Type::Int(32))
    }

    /// The elements brought together by AVX-512, and the mask of as many lanes.
    fn compressed(&mut self, part: &Part) -> (Value, Value) {
        let ty = self.out.ty(part.elements);
        let nothing = self.out.constant_value(Constant::Zero(ty));
        let name = format!("llvm.x86.avx512.mask.compress.{}", mangle(ty));
        let brought = self.result_of(&name, &[part.elements, nothing, part.mask], ty);
        let long = Type::Int(64);
        let one = self.out.int_const(64, 1);
        // Sixty-four lanes are one more than what can be shifted by.
        let by = match part.lanes {
            64 => {
                let most = self.out.int_const(64, 63);
                self.emit(Op::Binary(BinaryOp::And), &[part.count, most], long)
            }
            _ => part.count,
        };
        let above = self.emit(Op::Binary(BinaryOp::Shl), &[one, by], long);
        let mut below = self.emit(Op::Binary(BinaryOp::Sub), &[above, one], long);
        if part.lanes == 64 {
            let all = self.out.int_const(64, u64::MAX.into());
            let most = self.out.int_const(64, 64);
            let full = self.emit(Op::ICmp(IntPred::Eq), &[part.count, most], Type::BOOL);
            below = self.emit(Op::Select, &[full, all, below], long);
        } else {
            below = self.emit(Op::Cast(CastOp::Trunc), &[below], Type::Int(part.lanes));
        }
        let bools = self.out.ty(part.mask);
        (brought, self.emit(Op::Cast(CastOp::Bitcast), &[below], bools))
    }

    /// The elements brought together by AVX2's permutation of words, and the mask of as many lanes. The mask's bits
    /// are spread out to as many bits as an element's indices have, and extract those from all of them.
    fn permuted_words(&mut self, part: &Part) -> (Value, Value) {
        let long = Type::Int(64);
        let places = self.out.int_const(64, 0x0101_0101_0101_0101);
        let spread = self.result_of("llvm.x86.bmi.pdep.64", &[part.bits, places], long);
        let ones = self.out.int_const(64, 0xff);
        let spread = self.emit(Op::Binary(BinaryOp::Mul), &[spread, ones], long);
        let in_order = self.out.int_const(64, IN_ORDER.into());
        let indices = self.result_of("llvm.x86.bmi.pext.64", &[in_order, spread], long);
        let [bytes, words] = [8, 32].map(|bits| Type::Int(bits).vector(8).expect("an integer is a scalar"));
        let indices = self.emit(Op::Cast(CastOp::Bitcast), &[indices], bytes);
        let indices = self.emit(Op::Cast(CastOp::ZExt), &[indices], words);
        let brought = self.result_of("llvm.x86.avx2.permd", &[part.elements, indices], words);

        let count = self.emit(Op::Cast(CastOp::Trunc), &[part.count], Type::Int(32));
        let count = self.splat_scalar(count, words, part.lanes);
        let steps = (0..part.lanes).map(|k| Constant::int(32, k.into())).collect();
        let steps = self.out.constant_value(Constant::vector(steps));
        let bools = self.out.ty(part.mask);
        (brought, self.emit(Op::ICmp(IntPred::Ult), &[steps, count], bools))
    }

    /// A vector as one of other elements of the same size in all.
    fn reinterpreted(&mut self, x: Value, ty: Option<Type>) -> Value {
        match ty {
            Some(ty) if ty != self.out.ty(x) => self.emit(Op::Cast(CastOp::Bitcast), &[x], ty),
            _ => x,
        }
    }

    fn result_of(&mut self, name: &str, args: &[Value], ty: Type) -> Value {
        self.call_named(name, args, ty, Effects::empty()).expect("an intrinsic with a result")
    }

    /// Each active lane stores behind as many elements as lanes before it have.
    fn scatter_packed(
        &mut self,
        args: &[Value],
        (x, wants): (Value, Value),
        at: Inst,
    ) -> Result<(), VectorizeError> {
        let to = self.vector(args[0], at)?;
        let words = Type::Int(64).vector(self.width).expect("an integer is a scalar");
        let one_each = self.emit(Op::Cast(CastOp::ZExt), &[wants], words);
        let rank = self.scan_of(Combine::Add, one_each, Type::Int(64), false);
        let elem = self.src.ty(args[1]);
        let addresses = self.out.ty(to);
        let to = self.emit(Op::Gep(elem), &[to, rank], addresses);
        let align = self.out.int_const(32, 1);
        let name = format!("llvm.masked.scatter.{}.{}", mangle(self.out.ty(x)), mangle(addresses));
        self.call_named(&name, &[x, to, align, wants], Type::Void, WRITES);
        Ok(())
    }
}

/// What a packed store does.
const WRITES: Effects = Effects::WRITES.union(Effects::TRAPS).union(Effects::ARG_MEMORY_ONLY);
