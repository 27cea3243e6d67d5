//! Loads from private memory that is laid out for all lanes, each lane at an index of its own.
//!
//! Such memory is there for all lanes whatever they ask for, so no mask is needed: an index that has been brought
//! into the object will do, and what inactive lanes find is not looked at. So the load need not wait for the mask,
//! which may itself take a load to know: a stack is popped while it is still being found out who pops. Where a lane
//! has few elements, all are loaded, side by side as they lie, and each lane picks its own.
//!
//! An active lane's access is inside the object, so its index is found again modulo 2^32, however it is computed.

use crate::VectorizeError;
use crate::objects::alloca_bytes;
use warpline_dataflow::linear::{Address, Term};
use warpline_ir::{BinaryOp, Constant, Inst, IntPred, MemAccess, Op, Type, Value};

use super::super::{Lower, Rep};
use super::gather::Indexed;

/// From how many elements each lane picks one, at most.
const MAX_PICKED: i64 = 4;

/// What objects whose elements are loaded for inactive lanes are smaller than, in bytes: whatever these find is in
/// the first cache.
const MAX_BYTES: i64 = 1 << 14;

/// A load from an object that is laid out for all lanes.
struct Own {
    address: Address,
    /// From lane to lane, in bytes.
    step: i64,
    /// The size of the object of all lanes.
    bytes: i64,
}

impl Lower<'_> {
    /// One element for each lane, if it comes from memory that is laid out for all lanes, and can be loaded without a
    /// mask.
    pub(super) fn load_own(
        &mut self,
        address: Value,
        access: MemAccess,
        vty: Type,
        at: Inst,
    ) -> Result<Option<Value>, VectorizeError> {
        let Some(own) = self.own_object(address) else { return Ok(None) };
        let elem = vty.elem().map_or(Type::Void, Type::from);
        let Some(size) = self.module.layout.alloc_size(&self.module.types, elem) else { return Ok(None) };
        if let Some((term, first)) = own.few_elements(size as i64, i64::from(self.width)) {
            return self.pick(&own, term, first, vty, at).map(Some);
        }
        if self.mask.is_none() || own.bytes >= MAX_BYTES {
            return Ok(None);
        }
        let place = self.inside(&own, size as i64, at)?;
        if let Some(loaded) = self.gather_by_avx2(&place, None, vty, at)? {
            return Ok(Some(loaded));
        }
        let access = MemAccess { align: access.align.min(place.unit.into()), ..access };
        let ptrs = self.pointers(&place);
        let all = self.out.constant_value(Constant::vector(vec![Constant::bool(true); self.width as usize]));
        Ok(Some(self.masked_load("llvm.masked.gather", ptrs, access, all, vty, at)))
    }

    fn own_object(&self, address: Value) -> Option<Own> {
        let address = Address::of(self.module, self.src, address)?;
        // With a step, it is laid out for all lanes.
        let Rep::Strided(step) = self.reps[address.root] else { return None };
        let bytes = i64::try_from(alloca_bytes(self.module, self.src, address.root)?).ok()?;
        let narrow = |t: &Term| self.src.ty(t.value).int_bits().is_some_and(|bits| bits <= 64);
        let fits = bytes >> 31 == 0 && !address.terms.is_empty() && address.terms.iter().all(narrow);
        fits.then_some(Own { address, step, bytes })
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

impl Own {
    /// The only number that the address depends on, if it counts elements that lie side by side and are few, and how
    /// many are added to it.
    fn few_elements(&self, size: i64, width: i64) -> Option<(Term, i64)> {
        let row = self.step.checked_mul(width).filter(|_| self.step == size)?;
        let [term] = self.address.terms[..] else { return None };
        let fits = term.scale == row && self.address.offset % row == 0 && self.bytes % row == 0;
        (fits && (1..=MAX_PICKED).contains(&(self.bytes / row))).then_some((term, self.address.offset / row))
    }
}
