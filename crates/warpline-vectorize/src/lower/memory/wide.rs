//! Wide accesses with shuffles, for [groups](crate::recipes) with a fixed step between lanes.

use crate::VectorizeError;
use warpline_ir::{Accessed, CastOp, Constant, Inst, MemAccess, Op, Type, Value};

use super::super::Lower;
use crate::alignment::at_distance;
use crate::recipes::{Between, Group};

/// Where the elements of a group lie.
pub(super) struct Range {
    /// The address of the first element.
    pub(super) start: Value,
    /// The access to all elements.
    pub(super) access: MemAccess,
    /// The type of an element in memory.
    pub(super) elem: Type,
    /// The mask of the lanes that access blocks, if it is not all of them.
    pub(super) mask: Option<Value>,
    /// How many elements there are from the first to the last one.
    len: u64,
}

impl Lower<'_> {
    /// Loads of a group with a fixed step between lanes.
    pub(super) fn load_wide(&mut self, group: &Group) -> Result<(), VectorizeError> {
        let first = group.members[0].inst;
        let range = self.range(group)?;
        let whole_ty = range.elem.vector(range.len as u32).expect("memory elements are scalars");
        let whole = match self.range_mask(group, &range, first)? {
            None => {
                let new = self.out.append(self.block, Op::Load(range.access), &[range.start], whole_ty);
                self.copy_metadata(first, new);
                self.out.insts[new].results[0]
            }
            Some(mask) => {
                self.masked_load("llvm.masked.load", range.start, range.access, mask, whole_ty, first)
            }
        };
        let nothing = self.out.poison(whole_ty);
        for m in &group.members {
            let result = self.src.insts[m.inst].results[0];
            let ty = self.src.ty(result);
            let places = (0..self.width).map(|k| self.place(group, m.offset, k) as i32).collect();
            let part_ty = range.elem.vector(self.width).expect("memory elements are scalars");
            let part = self.emit(Op::Shuffle(places), &[whole, nothing], part_ty);
            let part = self.as_value(part, range.elem, ty);
            self.define(result, part);
        }
        Ok(())
    }

    /// A load of elements at equal distances that are there for all lanes but one, which loads its neighbour's if it
    /// does not ask for its own.
    pub(super) fn load_between(
        &mut self,
        between: &Between,
        access: MemAccess,
        vty: Type,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let Between { first, step, but_last, range, .. } = *between;
        let elem = vty.elem().map_or(Type::Void, Type::from);
        let size = self.module.layout.alloc_size(&self.module.types, elem).unwrap_or(1).max(1) as i64;
        let base = self.scalar(first.base, at)?;
        let last = i64::from(self.width) - 1;
        let (odd, neighbour) = if but_last { (last, last - 1) } else { (0, 1) };
        let wide_ty = elem.vector(range.len).expect("memory elements are scalars");
        let access_at = |bytes: i64| MemAccess { align: at_distance(first.align, bytes), ..access };
        let start = self.offset_by(base, first.offset + range.from * size);
        // Nothing else is known of these loads: what they find for lanes that do not ask is anything.
        let wide = self.emit(Op::Load(access_at(range.from * size)), &[start], wide_ty);
        let nothing = self.out.poison(wide_ty);
        let place = |lane: i64| (lane * step / size - range.from) as i32;
        let places = (0..=last).map(|lane| if lane == odd { -1 } else { place(lane) }).collect();
        let all = self.emit(Op::Shuffle(places), &[wide, nothing], vty);
        let mask = self.mask_or_true(at)?;
        let active = self.extract_lane(mask, Type::BOOL, odd as u32);
        let [own, other] = [odd, neighbour].map(|lane| self.offset_by(base, first.offset + lane * step));
        let ty = self.out.ty(own);
        let chosen = self.emit(Op::Select, &[active, own, other], ty);
        let one = self.emit(Op::Load(access_at(step)), &[chosen], elem);
        Ok(self.insert_lane(all, one, odd as u32))
    }

    /// Stores of a group.
    pub(super) fn store_group(&mut self, group: &Group) -> Result<(), VectorizeError> {
        let last = group.members[group.members.len() - 1].inst;
        let range = self.range(group)?;
        let mut parts = Vec::with_capacity(group.members.len());
        for m in &group.members {
            let value = self.src.insts[m.inst].args[0];
            let x = self.vector(value, m.inst)?;
            parts.push(self.as_element(x, self.src.ty(value), range.elem));
        }
        // Where the lanes' elements of each member are in the parts, one after another. Later members win.
        let mut places = vec![-1i32; range.len as usize];
        for (n, m) in group.members.iter().enumerate() {
            for k in 0..self.width {
                places[self.place(group, m.offset, k)] = (n as u32 * self.width + k) as i32;
            }
        }
        let whole_ty = range.elem.vector(range.len as u32).expect("memory elements are scalars");
        let all = self.joined(parts);
        let nothing = self.out.poison(self.out.ty(all));
        let whole = self.emit(Op::Shuffle(places.into()), &[all, nothing], whole_ty);
        match self.range_mask(group, &range, last)? {
            None => {
                let new = self.emit_void(Op::Store(range.access), &[whole, range.start]);
                self.copy_metadata(last, new);
            }
            Some(mask) => {
                self.masked_store("llvm.masked.store", whole, range.start, range.access, mask, last);
            }
        }
        Ok(())
    }

    /// Where the element of a lane lies in the range of a group.
    fn place(&self, group: &Group, offset: i64, lane: u32) -> usize {
        let (low, _) = group.extent();
        let first = group.factor().min(0) * i64::from(self.width - 1) + low;
        (i64::from(lane) * group.factor() + offset - first) as usize
    }

    pub(super) fn range(&mut self, group: &Group) -> Result<Range, VectorizeError> {
        let elem = self.element_of(group);
        let first = group.members[0].inst;
        let Some(Accessed { access, address, .. }) = self.src.accessed(first) else {
            return Err(self.internal(first, "a group has members that are no accesses"));
        };
        let base = self.scalar(address, first)?;
        let size = group.size as i64;
        let start = -(self.place(group, 0, 0) as i64) * size;
        // What lanes promise of their addresses, no one promises where no lane may be active: no more than an
        // element's alignment is said then, which no vector is too large for.
        let promised = if self.mask.is_none() { access.align } else { at_distance(access.align, size) };
        let align = at_distance(at_distance(promised, group.factor() * size), start);
        let start = self.offset_by(base, start);
        let access = MemAccess { align, ..access };
        Ok(Range { start, access, elem, mask: None, len: group.range(self.width) })
    }

    /// The type of a group's elements in memory.
    pub(super) fn element_of(&self, group: &Group) -> Type {
        let types: Vec<Type> = group.members.iter().map(|m| self.memory_type(m.inst)).collect();
        let alike = types.iter().all(|&ty| ty == types[0]);
        if alike { types[0] } else { Type::Int(group.size as u32 * 8) }
    }

    /// The type that the elements of a load or store have in memory.
    fn memory_type(&self, i: Inst) -> Type {
        let elem = self.src.accessed(i).and_then(|a| self.memory_element(a.ty));
        elem.map_or(Type::Void, Type::from)
    }

    /// A mask of all elements of a range; `None` if all may be accessed.
    fn range_mask(
        &mut self,
        group: &Group,
        range: &Range,
        at: Inst,
    ) -> Result<Option<Value>, VectorizeError> {
        let mask = self.mask_vector(at)?;
        if mask.is_none() && (!group.stores || group.is_complete()) {
            return Ok(None);
        }
        // The number of the lane that each element belongs to, or W.
        let mut lanes = vec![self.width as i32; range.len as usize];
        for m in &group.members {
            for k in 0..self.width {
                lanes[self.place(group, m.offset, k)] = k as i32;
            }
        }
        Ok(Some(match mask {
            Some(mask) => {
                let none = self.out.constant_value(Constant::Zero(self.mask_type()));
                let ty = Type::BOOL.vector(range.len as u32).expect("a boolean is a scalar");
                self.emit(Op::Shuffle(lanes.into()), &[mask, none], ty)
            }
            None => {
                let bits = lanes.iter().map(|&k| Constant::bool(k != self.width as i32));
                self.out.constant_value(Constant::vector(bits.collect()))
            }
        }))
    }

    /// What was loaded as elements of one type, as values of another.
    pub(super) fn as_value(&mut self, x: Value, elem: Type, ty: Type) -> Value {
        if elem == ty {
            return x;
        }
        match ty {
            Type::Int(bits) if elem.int_bits().is_some_and(|b| b > bits) => {
                self.cast_vector(CastOp::Trunc, x, ty)
            }
            _ => self.cast_vector(CastOp::Bitcast, x, ty),
        }
    }

    /// Values of one type as elements of another.
    pub(super) fn as_element(&mut self, x: Value, ty: Type, elem: Type) -> Value {
        if elem == ty {
            return x;
        }
        match ty {
            Type::Int(bits) if elem.int_bits().is_some_and(|b| b > bits) => {
                self.cast_vector(CastOp::ZExt, x, elem)
            }
            _ => self.cast_vector(CastOp::Bitcast, x, elem),
        }
    }

    /// Vectors of one type, one after another. What fills the last ones up is poison.
    pub(in crate::lower) fn joined(&mut self, mut parts: Vec<Value>) -> Value {
        while parts.len() > 1 {
            let ty = self.out.ty(parts[0]);
            let Type::Vector(v) = ty else { break };
            if parts.len() % 2 == 1 {
                parts.push(self.out.poison(ty));
            }
            let double = Type::from(v.elem).vector(2 * v.lanes).expect("elements are scalars");
            let places: Box<[i32]> = (0..2 * v.lanes as i32).collect();
            parts = parts
                .chunks(2)
                .map(|pair| self.emit(Op::Shuffle(places.clone()), &[pair[0], pair[1]], double))
                .collect();
        }
        parts[0]
    }

    /// A pointer some bytes further.
    pub(super) fn offset_by(&mut self, base: Value, bytes: i64) -> Value {
        let ty = self.out.ty(base);
        let Type::Ptr(space) = ty else { return base };
        if bytes == 0 {
            return base;
        }
        let offset = self.out.int_const(self.module.layout.index_bits(space), bytes as i128 as u128);
        self.emit(Op::Gep(Type::Int(8)), &[base, offset], ty)
    }
}
