//! [Private memory that is laid out for all lanes](crate::recipes), which each lane accesses at an index of its own.

use crate::VectorizeError;
use crate::recipes::{How, Own};
use warpline_dataflow::linear::Term;
use warpline_ir::{BinaryOp, Constant, Inst, IntPred, MemAccess, Op, Type, Value};

use super::super::Lower;
use super::gather::Indexed;

impl Lower<'_> {
    /// One element for each lane, without a mask.
    pub(super) fn load_own(
        &mut self,
        own: &Own,
        how: How,
        access: MemAccess,
        vty: Type,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let elem = vty.elem().map_or(Type::Void, Type::from);
        let Some(size) = self.module.layout.alloc_size(&self.module.types, elem) else {
            return Err(self.internal(at, "an element without a size"));
        };
        if how == How::Pick {
            let Some((term, first)) = own.few_elements(size as i64, i64::from(self.width)) else {
                return Err(self.internal(at, "an object has too many elements to pick one"));
            };
            return self.pick(own, term, first, vty, at);
        }
        let place = self.inside(own, size as i64, at)?;
        if let How::Avx2(lanes) = how {
            return Ok(self.gather_by_avx2(&place, None, vty, lanes, at));
        }
        let access = MemAccess { align: access.align.min(place.unit.into()), ..access };
        let ptrs = self.pointers(&place);
        let all = self.out.constant_value(Constant::vector(vec![Constant::bool(true); self.width as usize]));
        Ok(self.masked_load("llvm.masked.gather", ptrs, access, all, vty, at))
    }

    /// Loads every element that a lane may ask for.
    fn pick(
        &mut self,
        own: &Own,
        term: Term,
        first: i64,
        vty: Type,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let base = self.scalar(own.address.root, at)?;
        let row = own.step * i64::from(self.width);
        let index = self.vector(term.value, at)?;
        let index_ty = Type::Int(32).vector(self.width).expect("an integer is a scalar");
        let index = self.term(index, term.extension, 1, index_ty);
        let align = 1 << (own.step | row).trailing_zeros();
        let mut picked = None;
        for k in 0..own.bytes / row {
            let ptr = self.offset_by(base, k * row);
            let x = self.emit(Op::Load(MemAccess::plain(align)), &[ptr], vty);
            picked = Some(match picked {
                None => x,
                Some(before) => {
                    let number = Constant::int(32, i128::from(k - first) as u128);
                    let number = self.out.constant_value(Constant::vector(vec![number; self.width as usize]));
                    let bools = self.mask_type();
                    let here = self.emit(Op::ICmp(IntPred::Eq), &[index, number], bools);
                    self.emit(Op::Select, &[here, x, before], vty)
                }
            });
        }
        Ok(picked.expect("an object has an element"))
    }

    /// Stores one element of each lane: every element is stored, changed where a lane asks for it.
    pub(super) fn store_own(&mut self, own: &Own, x: Value, at: Inst) -> Result<(), VectorizeError> {
        let elem = self.out.ty(x).elem().map_or(Type::Void, Type::from);
        let size = self.module.layout.alloc_size(&self.module.types, elem).unwrap_or(0) as i64;
        let Some((term, first)) = own.few_elements(size, i64::from(self.width)) else {
            return Err(self.internal(at, "an object has too many elements to store all"));
        };
        let base = self.scalar(own.address.root, at)?;
        let row = own.step * i64::from(self.width);
        let index = self.vector(term.value, at)?;
        let index_ty = Type::Int(32).vector(self.width).expect("an integer is a scalar");
        let index = self.term(index, term.extension, 1, index_ty);
        // A lane that is not active may have computed anything.
        let index = self.emit(Op::Freeze, &[index], index_ty);
        let align = 1 << (own.step | row).trailing_zeros();
        let (mask, bools) = (self.mask_vector(at)?, self.mask_type());
        for k in 0..own.bytes / row {
            let number = Constant::int(32, i128::from(k - first) as u128);
            let number = self.out.constant_value(Constant::vector(vec![number; self.width as usize]));
            let mut here = self.emit(Op::ICmp(IntPred::Eq), &[index, number], bools);
            if let Some(mask) = mask {
                here = self.emit(Op::Binary(BinaryOp::And), &[here, mask], bools);
            }
            let ptr = self.offset_by(base, k * row);
            self.store_blended(x, ptr, align, here);
        }
        Ok(())
    }

    /// Stores what is there again where a mask is false.
    pub(super) fn store_blended(&mut self, x: Value, ptr: Value, align: u64, mask: Value) {
        let (ty, access) = (self.out.ty(x), MemAccess::plain(align));
        let before = self.emit(Op::Load(access), &[ptr], ty);
        // Frozen, so that code generation does not make a masked store of it again, which some processors are slow at.
        let before = self.emit(Op::Freeze, &[before], ty);
        let blended = self.emit(Op::Select, &[mask, x, before], ty);
        self.emit_void(Op::Store(access), &[blended, ptr]);
    }

    /// The addresses of active lanes, and elsewhere some in the object.
    fn inside(&mut self, own: &Own, size: i64, at: Inst) -> Result<Indexed, VectorizeError> {
        let base = self.scalar(own.address.root, at)?;
        let numbers =
            own.address.terms.iter().map(|t| t.scale).chain([own.step, own.address.offset, own.bytes - size]);
        let zeros = numbers.filter(|&x| x != 0).map(i64::trailing_zeros).min().unwrap_or(0).min(3);
        let index_ty = Type::Int(32).vector(self.width).expect("an integer is a scalar");
        let fixed = (0..self.width).map(|k| {
            let bytes = own.step.wrapping_mul(i64::from(k)).wrapping_add(own.address.offset);
            Constant::int(32, i128::from(bytes >> zeros) as u128)
        });
        let mut index = self.out.constant_value(Constant::vector(fixed.collect()));
        for &t in &own.address.terms {
            let x = self.vector(t.value, at)?;
            let x = self.term(x, t.extension, t.scale >> zeros, index_ty);
            index = self.emit(Op::Binary(BinaryOp::Add), &[x, index], index_ty);
        }
        let last = Constant::int(32, i128::from((own.bytes - size) >> zeros) as u128);
        let last = self.out.constant_value(Constant::vector(vec![last; self.width as usize]));
        // A lane that is not active may have computed anything.
        let index = self.emit(Op::Freeze, &[index], index_ty);
        let bools = self.mask_type();
        let within = self.emit(Op::ICmp(IntPred::Ult), &[index, last], bools);
        let index = self.emit(Op::Select, &[within, index, last], index_ty);
        Ok(Indexed { base, index, unit: 1 << zeros })
    }
}
