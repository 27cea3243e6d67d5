//! Loads, stores and private memory, as their [recipes](crate::recipes) say.

mod active_lanes;
mod avx2;
mod bulk;
mod gather;
mod grouped;
mod interleaved;
mod lane_private;
mod overlapping;
mod packed;
mod subword;
mod tables;
mod wide;
mod windows;

use crate::VectorizeError;
use crate::alignment::at_distance;
use crate::objects::SafeLoad;
use crate::recipes::{Contiguous, Gather, GroupId, Scatter, Split, memory_element};
use warpline_ir::{BinaryOp, CastOp, Effects, Inst, MemAccess, Op, Scalar, Type, Value};

use super::{Lower, Rep};

pub(super) use grouped::Zeros;

impl Lower<'_> {
    /// A load from a uniform address, from a place that is known to be there or where it is asked for.
    pub(super) fn load_once(&mut self, i: Inst, safe: Option<SafeLoad>) -> Result<(), VectorizeError> {
        let (access, address, result) = self.parts_of_load(i)?;
        let (ptr, access) = match safe {
            Some(safe) => self.safe_place(safe, access, i)?,
            None => (self.scalar(address, i)?, access),
        };
        let ty = self.src.ty(result);
        let new = self.out.append(self.block, Op::Load(access), &[ptr], ty);
        self.copy_metadata(i, new);
        let mut value = self.out.insts[new].results[0];
        if self.reps[result] == Rep::Varying {
            value = self.splat(value, i)?;
        }
        self.define(result, value);
        Ok(())
    }

    /// A store to a uniform address, of the last active lane's value.
    pub(super) fn store_once(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let (access, value, address) = self.parts_of_store(i)?;
        let ptr = self.scalar(address, i)?;
        let x = if self.reps[value] == Rep::Uniform {
            self.scalar(value, i)?
        } else {
            self.last_active(value, i)?
        };
        let new = self.emit_void(Op::Store(access), &[x, ptr]);
        self.copy_metadata(i, new);
        Ok(())
    }

    /// A load of neighbouring elements.
    pub(super) fn load_contiguous(&mut self, i: Inst, how: Contiguous) -> Result<(), VectorizeError> {
        let (access, address, result) = self.parts_of_load(i)?;
        let elem = self.element_in_memory(self.src.ty(result), i)?;
        let vty = elem.vector(self.width).expect("memory elements are scalars");
        let loaded = if let Contiguous::Speculated(safe) = how {
            let (ptr, access) = self.safe_place(safe, access, i)?;
            self.emit(Op::Load(access), &[ptr], vty)
        } else {
            let ptr = self.scalar(address, i)?;
            let access = self.aligned_for_lane_0(access, elem);
            match how {
                Contiguous::ByLane => self.load_one_by_one(ptr, access, vty, i)?,
                Contiguous::Active => self.load_active(ptr, access, vty, i)?,
                Contiguous::Masked => {
                    let mask = self.mask_or_true(i)?;
                    self.masked_load("llvm.masked.load", ptr, access, mask, vty, i)
                }
                _ => self.emit(Op::Load(access), &[ptr], vty),
            }
        };
        self.define_loaded(i, loaded, elem, result)
    }

    /// A load from anywhere.
    pub(super) fn load_anywhere(&mut self, i: Inst, gather: &Gather) -> Result<(), VectorizeError> {
        let (access, address, result) = self.parts_of_load(i)?;
        let elem = self.element_in_memory(self.src.ty(result), i)?;
        let vty = elem.vector(self.width).expect("memory elements are scalars");
        let loaded = self.gather(gather, address, access, vty, i)?;
        self.define_loaded(i, loaded, elem, result)
    }

    /// Defines the result of a load, given the elements of all lanes.
    fn define_loaded(
        &mut self,
        i: Inst,
        loaded: Value,
        elem: Type,
        result: Value,
    ) -> Result<(), VectorizeError> {
        let ty = self.src.ty(result);
        let loaded = self.as_value(loaded, elem, ty);
        if self.reps[result].is_scalar() {
            // A uniform address in a block that may have no active lane.
            let first = self.first_active(loaded, ty, i)?;
            self.define(result, first);
        } else {
            self.define(result, loaded);
        }
        Ok(())
    }

    /// A store of neighbouring elements.
    pub(super) fn store_contiguous(&mut self, i: Inst, how: Contiguous) -> Result<(), VectorizeError> {
        let (access, value, address) = self.parts_of_store(i)?;
        let (x, elem) = self.stored(i, value)?;
        let ptr = self.scalar(address, i)?;
        let access = self.aligned_for_lane_0(access, elem);
        match how {
            Contiguous::ByLane => self.store_one_by_one(x, ptr, access, i)?,
            Contiguous::Active => self.store_active(x, ptr, access, i)?,
            Contiguous::Masked => {
                let mask = self.mask_or_true(i)?;
                self.masked_store("llvm.masked.store", x, ptr, access, mask, i);
            }
            Contiguous::Blended => {
                let mask = self.mask_or_true(i)?;
                self.store_blended(x, ptr, access.align, mask);
            }
            _ => {
                let new = self.emit_void(Op::Store(access), &[x, ptr]);
                self.copy_metadata(i, new);
            }
        }
        Ok(())
    }

    /// A store to anywhere.
    pub(super) fn store_anywhere(&mut self, i: Inst, scatter: &Scatter) -> Result<(), VectorizeError> {
        let (access, value, address) = self.parts_of_store(i)?;
        let (x, _) = self.stored(i, value)?;
        self.scatter(scatter, x, address, access, i)
    }

    /// The accesses of a group.
    pub(super) fn group(&mut self, id: GroupId) -> Result<(), VectorizeError> {
        let group = self.plan.group(id);
        match (&group.blocks, group.stores) {
            _ if group.alike => self.group_in_order(group),
            (Some(blocks), true) => self.store_blocks(group, blocks),
            (Some(blocks), false) => self.load_blocks(id, blocks),
            (None, true) => self.store_group(group),
            (None, false) => self.load_wide(group),
        }
    }

    /// The loads of a group whose lanes are anywhere.
    pub(super) fn rows(&mut self, id: GroupId, split: Option<&Split>) -> Result<(), VectorizeError> {
        self.load_rows(self.plan.group(id), split)
    }

    /// How a load is made, its address and its result.
    fn parts_of_load(&self, i: Inst) -> Result<(MemAccess, Value, Value), VectorizeError> {
        let data = &self.src.insts[i];
        match (&data.op, &data.args[..], &data.results[..]) {
            (&Op::Load(access), &[address], &[result]) => Ok((unseen(access), address, result)),
            _ => Err(self.internal(i, "the recipe is one of a load")),
        }
    }

    /// How a store is made, its value and its address.
    fn parts_of_store(&self, i: Inst) -> Result<(MemAccess, Value, Value), VectorizeError> {
        let data = &self.src.insts[i];
        match (&data.op, &data.args[..]) {
            (&Op::Store(access), &[value, address]) => Ok((unseen(access), value, address)),
            _ => Err(self.internal(i, "the recipe is one of a store")),
        }
    }

    /// What a store stores, as elements in memory, and their type.
    fn stored(&mut self, i: Inst, value: Value) -> Result<(Value, Type), VectorizeError> {
        let ty = self.src.ty(value);
        let elem = self.element_in_memory(ty, i)?;
        let x = self.vector(value, i)?;
        Ok((self.as_element(x, ty, elem), elem))
    }

    /// The type that values of a type have in memory as elements of vectors.
    fn element_in_memory(&self, ty: Type, at: Inst) -> Result<Type, VectorizeError> {
        let elem = self.memory_element(ty).map(Type::from);
        elem.ok_or_else(|| self.internal(at, "the type has no vectors in memory"))
    }

    /// The address of a load that may be made whether or not a lane is active, and the load.
    fn safe_place(
        &mut self,
        safe: SafeLoad,
        access: MemAccess,
        at: Inst,
    ) -> Result<(Value, MemAccess), VectorizeError> {
        let base = self.scalar(safe.base, at)?;
        Ok((self.offset_by(base, safe.offset), MemAccess { align: safe.align, ..access }))
    }

    /// An access of consecutive elements, with what is known of lane 0's address if some lane's is aligned.
    fn aligned_for_lane_0(&self, access: MemAccess, elem: Type) -> MemAccess {
        let size = self.module.layout.alloc_size(&self.module.types, elem).unwrap_or(1);
        MemAccess { align: at_distance(access.align, size as i64), ..access }
    }

    fn memory_element(&self, ty: Type) -> Option<Scalar> {
        memory_element(&self.module.layout, &self.module.types, ty)
    }

    fn masked_load(
        &mut self,
        name: &str,
        address: Value,
        access: MemAccess,
        mask: Value,
        ty: Type,
        at: Inst,
    ) -> Value {
        let name = format!("{name}.{}.{}", mangle(ty), mangle(self.out.ty(address)));
        let align = self.out.int_const(32, u128::from(access.align));
        let nothing = self.out.poison(ty);
        let effects = Effects::READS | Effects::TRAPS | Effects::ARG_MEMORY_ONLY;
        let new = self
            .call_named(&name, &[address, align, mask, nothing], ty, effects)
            .expect("a masked load has a result");
        if let Some(inst) = self.out.def_inst(new) {
            self.copy_metadata(at, inst);
        }
        new
    }

    fn masked_store(
        &mut self,
        name: &str,
        x: Value,
        address: Value,
        access: MemAccess,
        mask: Value,
        at: Inst,
    ) {
        let name = format!("{name}.{}.{}", mangle(self.out.ty(x)), mangle(self.out.ty(address)));
        let align = self.out.int_const(32, u128::from(access.align));
        let effects = Effects::WRITES | Effects::TRAPS | Effects::ARG_MEMORY_ONLY;
        self.call_named(&name, &[x, address, align, mask], Type::Void, effects);
        if let Some(&inst) = self.out.blocks[self.block].insts.last() {
            self.copy_metadata(at, inst);
        }
    }

    /// The number of the last active lane, as `i64`. There must be one.
    fn last_lane(&mut self, at: Inst) -> Result<Value, VectorizeError> {
        let Some(mask) = self.mask_vector(at)? else {
            return Ok(self.out.int_const(64, u128::from(self.width) - 1));
        };
        let zeros = self.count_zeros("llvm.ctlz", mask);
        let top = self.out.int_const(64, 63);
        Ok(self.emit(Op::Binary(BinaryOp::Sub), &[top, zeros], Type::Int(64)))
    }

    /// Leading or trailing zeros of a mask's bits as `i64`; 64 if the mask is empty.
    fn count_zeros(&mut self, intrinsic: &str, mask: Value) -> Value {
        let mut bits = self.mask_bits(mask);
        if self.width < 64 {
            bits = self.emit(Op::Cast(CastOp::ZExt), &[bits], Type::Int(64));
        }
        let defined = self.out.bool_const(false);
        self.call_named(&format!("{intrinsic}.i64"), &[bits, defined], Type::Int(64), Effects::empty())
            .expect("an intrinsic with a result")
    }

    fn last_active(&mut self, value: Value, at: Inst) -> Result<Value, VectorizeError> {
        let ty = self.src.ty(value);
        let x = self.vector(value, at)?;
        let index = self.last_lane(at)?;
        Ok(self.extract_at(x, ty, index))
    }

    /// The value of the first active lane; of lane 0 if there is none.
    pub(super) fn first_active(&mut self, x: Value, ty: Type, at: Inst) -> Result<Value, VectorizeError> {
        let index = self.first_lane(at)?;
        Ok(self.extract_at(x, ty, index))
    }

    /// The number of the first active lane, as `i64`; 0 if there is none.
    pub(super) fn first_lane(&mut self, at: Inst) -> Result<Value, VectorizeError> {
        match self.mask_vector(at)? {
            Some(mask) => Ok(self.first_set(mask)),
            None => Ok(self.out.int_const(64, 0)),
        }
    }

    /// The number of the first lane that is set in a mask, as `i64`; 0 if there is none.
    pub(super) fn first_set(&mut self, mask: Value) -> Value {
        let zero = self.out.int_const(64, 0);
        let zeros = self.count_zeros("llvm.cttz", mask);
        let bits = self.out.int_const(64, u128::from(self.width));
        let inside = self.emit(Op::ICmp(warpline_ir::IntPred::Ult), &[zeros, bits], Type::BOOL);
        self.emit(Op::Select, &[inside, zeros, zero], Type::Int(64))
    }

    /// `alloca`: one object per lane, side by side, or one for all lanes if they can share it.
    pub(super) fn alloca(&mut self, i: Inst) -> Result<(), VectorizeError> {
        let data = &self.src.insts[i];
        let Op::Alloca { ty, align } = data.op else { return Ok(()) };
        let (count, result) = (data.args[0], data.results[0]);
        let Some(size) = self.module.layout.alloc_size(&self.module.types, ty) else {
            return Err(self.error(i, "private memory of a type without a fixed size cannot be vectorized"));
        };
        let rep = self.reps[result];
        // With a step, it is laid out for all lanes already (see `private_memory`).
        let objects = if rep == Rep::Varying { self.width } else { 1 };
        let ptr_ty = self.src.ty(result);
        let Type::Ptr(space) = ptr_ty else { return Err(self.internal(i, "no pointer")) };
        let index_ty = Type::Int(self.module.layout.index_bits(space));
        let constant = self.src.as_int(count).and_then(|c| u64::try_from(c).ok());
        let per_lane =
            constant.and_then(|c| size.checked_mul(c)).and_then(|b| b.checked_next_multiple_of(align.max(1)));
        let (base, steps) = match per_lane {
            Some(per_lane) => {
                let object = self.module.types.array(Type::Int(8), per_lane.saturating_mul(objects.into()));
                let one = self.out.int_const(32, 1);
                let base = self.new_alloca(i, object, align, one);
                (base, self.steps(self.module.layout.index_bits(space), per_lane as i64))
            }
            None => {
                let count = self.scalar(count, i)?;
                let count = self.resized(count, index_ty);
                let size = self.out.int_const(64, u128::from(size.next_multiple_of(align.max(1))));
                let size = self.resized(size, index_ty);
                let per_lane = self.emit(Op::Binary(BinaryOp::Mul), &[count, size], index_ty);
                let number = self.out.int_const(self.module.layout.index_bits(space), objects.into());
                let bytes = self.emit(Op::Binary(BinaryOp::Mul), &[per_lane, number], index_ty);
                let base = self.new_alloca(i, Type::Int(8), align, bytes);
                let lanes = self.steps(self.module.layout.index_bits(space), 1);
                let splat = self.splat(per_lane, i)?;
                let vty = self.out.ty(splat);
                (base, self.emit(Op::Binary(BinaryOp::Mul), &[splat, lanes], vty))
            }
        };
        if rep.is_scalar() {
            self.define(result, base);
            return Ok(());
        }
        let vty = ptr_ty.vector(self.width).expect("a pointer is a scalar");
        let ptrs = self.emit(Op::Gep(Type::Int(8)), &[base, steps], vty);
        self.define(result, ptrs);
        Ok(())
    }

    /// Memory that lives as long as the function, if the kernel's is made once, else from here to the end of the
    /// function.
    fn new_alloca(&mut self, i: Inst, ty: Type, align: u64, count: Value) -> Value {
        let op = Op::Alloca { ty, align };
        let ptr_ty = self.src.ty(self.src.insts[i].results[0]);
        if self.src.insts[i].block == self.src.entry() && self.out.constant(count).is_some() {
            let inst = self.out.make_inst(self.out.entry(), op, &[count], &[ptr_ty]);
            self.allocas.push(inst);
            return self.out.insts[inst].results[0];
        }
        self.emit(op, &[count], ptr_ty)
    }

    /// An integer in another width, read as unsigned, as the count of an `alloca` is.
    fn resized(&mut self, x: Value, ty: Type) -> Value {
        match self.out.ty(x).int_bits().cmp(&ty.int_bits()) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Less => self.emit(Op::Cast(CastOp::ZExt), &[x], ty),
            std::cmp::Ordering::Greater => self.emit(Op::Cast(CastOp::Trunc), &[x], ty),
        }
    }
}

/// How an access is made that has a recipe for vectors: what is volatile is seen by nobody else then.
fn unseen(access: MemAccess) -> MemAccess {
    MemAccess { is_volatile: false, ..access }
}

/// A type in the suffix of an overloaded intrinsic's name.
pub(crate) fn mangle(ty: Type) -> String {
    match ty {
        Type::Int(bits) => format!("i{bits}"),
        Type::Float(kind) => match kind {
            warpline_ir::FloatKind::Half => "f16".into(),
            warpline_ir::FloatKind::BFloat => "bf16".into(),
            warpline_ir::FloatKind::PpcFp128 => "ppcf128".into(),
            kind => format!("f{}", kind.bits()),
        },
        Type::Ptr(space) => format!("p{space}"),
        Type::Vector(v) => format!("v{}{}", v.lanes, mangle(v.elem.into())),
        Type::Void | Type::Aggregate(_) | Type::Other(_) => "x".into(),
    }
}
