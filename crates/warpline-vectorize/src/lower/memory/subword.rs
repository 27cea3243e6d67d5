//! Gathers of narrow elements, by gathers of the [words](crate::subword_loads) that they are parts of.

use crate::alignment::at_distance;
use crate::subword_loads::WORD_BYTES;
use crate::{Gathers, VectorizeError};
use warpline_ir::{BinaryOp, CastOp, Constant, Inst, MemAccess, Op, Scalar, Type, Value};

use super::super::{Lower, Rep};
use super::gather::Indexed;

/// Bits of a word.
const BITS: u32 = 8 * WORD_BYTES as u32;

impl Lower<'_> {
    /// One narrow element for each lane from a word around it, if there is one that may be read and the machine
    /// gathers words from there. The place is the address taken apart, if it can be.
    pub(super) fn gather_words(
        &mut self,
        place: Option<&Indexed>,
        address: Value,
        access: MemAccess,
        vty: Type,
        at: Inst,
    ) -> Result<Option<Value>, VectorizeError> {
        let elem = vty.elem().map_or(Type::Void, Type::from);
        let narrow = Type::Int(match elem {
            Type::Int(bits) => bits,
            Type::Float(kind) => kind.bits(),
            _ => return Ok(None),
        });
        // An address with a fixed step needs no vector: lanes load from the same scalar address.
        let varies = self.reps[address] == Rep::Varying && matches!(narrow, Type::Int(8 | 16));
        let Some(before) = self.words[at].filter(|_| varies) else { return Ok(None) };
        let words = Type::Int(BITS).vector(self.width).expect("an integer is a scalar");
        let back = -before.cast_signed();
        let gathered = match (self.gathers, place) {
            (Gathers::Avx2, Some(place)) if self.lanes_of_avx2(place, words).is_some() => {
                let place = Indexed { base: self.offset_by(place.base, back), ..*place };
                let mask = self.mask_vector(at)?;
                self.gather_by_avx2(&place, mask, words, at)?
            }
            (Gathers::Everything, _) => {
                let ptrs = match place {
                    Some(place) => {
                        let base = self.offset_by(place.base, back);
                        self.pointers(&Indexed { base, ..*place })
                    }
                    None => {
                        let ptrs = self.vector(address, at)?;
                        self.all_offset_by(ptrs, back)
                    }
                };
                let mask = self.mask_or_true(at)?;
                let access = MemAccess { align: at_distance(access.align, back), ..access };
                Some(self.masked_load("llvm.masked.gather", ptrs, access, mask, words, at))
            }
            _ => None,
        };
        let Some(mut x) = gathered else { return Ok(None) };
        if before > 0 {
            let bits = Constant::int(BITS, u128::from(8 * before));
            let bits = self.out.constant_value(Constant::vector(vec![bits; self.width as usize]));
            x = self.emit(Op::Binary(BinaryOp::LShr), &[x, bits], words);
        }
        let narrow_ty = narrow.vector(self.width).expect("an integer is a scalar");
        let x = self.emit(Op::Cast(CastOp::Trunc), &[x], narrow_ty);
        Ok(Some(self.as_value(x, narrow, elem)))
    }

    /// Pointers to so many bytes behind those of a vector.
    fn all_offset_by(&mut self, ptrs: Value, bytes: i64) -> Value {
        let ty = self.out.ty(ptrs);
        let Some(Scalar::Ptr(space)) = ty.elem().filter(|_| bytes != 0) else { return ptrs };
        let offset = self.out.int_const(self.module.layout.index_bits(space), i128::from(bytes) as u128);
        self.emit(Op::Gep(Type::Int(8)), &[ptrs, offset], ty)
    }
}
