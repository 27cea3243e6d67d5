//! Gathers of narrow elements, by gathers of the [words](crate::subword_loads) that they are parts of.

use crate::VectorizeError;
use crate::alignment::at_distance;
use crate::recipes::{Gather, How, Place};
use crate::subword_loads::WORD_BYTES;
use warpline_ir::{BinaryOp, CastOp, Constant, Inst, MemAccess, Op, Scalar, Type, Value};

use super::super::Lower;
use super::gather::Indexed;

/// Bits of a word.
const BITS: u32 = 8 * WORD_BYTES as u32;

impl Lower<'_> {
    /// Words for each lane, at so many bytes before its narrow element.
    pub(super) fn gather_words(
        &mut self,
        gather: &Gather,
        before: u64,
        access: MemAccess,
        address: Value,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let words = Type::Int(BITS).vector(self.width).expect("an integer is a scalar");
        let back = -before.cast_signed();
        let place = match &gather.place {
            Place::Indexed(split) => {
                let place = self.indexed(split, at)?;
                let base = self.offset_by(place.base, back);
                Some(Indexed { base, ..place })
            }
            _ => None,
        };
        if let (Some(place), How::Avx2(lanes)) = (&place, gather.how) {
            let mask = self.mask_vector(at)?;
            return Ok(self.gather_by_avx2(place, mask, words, lanes, at));
        }
        let ptrs = match place {
            Some(place) => self.pointers(&place),
            None => {
                let ptrs = self.vector(address, at)?;
                self.all_offset_by(ptrs, back)
            }
        };
        let mask = self.mask_or_true(at)?;
        let access = MemAccess { align: at_distance(access.align, back), ..access };
        Ok(self.masked_load("llvm.masked.gather", ptrs, access, mask, words, at))
    }

    /// Narrow elements of words, which begin so many bytes before them.
    pub(super) fn parts_of_words(&mut self, mut x: Value, before: u64, vty: Type) -> Value {
        let elem = vty.elem().map_or(Type::Void, Type::from);
        let narrow = match elem {
            Type::Float(kind) => Type::Int(kind.bits()),
            other => other,
        };
        let words = self.out.ty(x);
        if before > 0 {
            let bits = Constant::int(BITS, u128::from(8 * before));
            let bits = self.out.constant_value(Constant::vector(vec![bits; self.width as usize]));
            x = self.emit(Op::Binary(BinaryOp::LShr), &[x, bits], words);
        }
        let narrow_ty = narrow.vector(self.width).expect("an integer is a scalar");
        let x = self.emit(Op::Cast(CastOp::Trunc), &[x], narrow_ty);
        self.as_value(x, narrow, elem)
    }

    /// Pointers to so many bytes behind those of a vector.
    fn all_offset_by(&mut self, ptrs: Value, bytes: i64) -> Value {
        let ty = self.out.ty(ptrs);
        let Some(Scalar::Ptr(space)) = ty.elem().filter(|_| bytes != 0) else { return ptrs };
        let offset = self.out.int_const(self.module.layout.index_bits(space), i128::from(bytes) as u128);
        self.emit(Op::Gep(Type::Int(8)), &[ptrs, offset], ty)
    }
}
