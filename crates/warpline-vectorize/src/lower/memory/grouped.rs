//! Accesses anywhere in memory: gathers and scatters, and what stands in for them.
//!
//! A gather takes as long as a load for each lane. So where lanes read several elements that lie side by side, as
//! fields of a structure or neighbours in a grid do, each lane's are loaded as one short vector, a *row*, and the
//! rows transposed. The [plan](crate::recipes) says which.
//!
//! Where the machine cannot gather or scatter under a mask, or access neighbours, LLVM makes a branch for every lane.
//! Without branches: lanes that are not active access a place on the stack that nobody looks at. [AVX2](super::avx2)
//! gathers some elements by instructions.

use std::ops::Range;

use crate::VectorizeError;
use crate::alignment::at_distance;
use crate::recipes::{Gather, Group, How, Member, Place, ROOM, Row, Scatter, Split};
use warpline_ir::{CastOp, Effects, Inst, MemAccess, Op, Type, Value};

use super::super::Lower;

/// What lanes of a vector instruction are counted in: shuffles within so many bytes are cheap.
const PART_BYTES: u64 = 16;

/// Zeros on the stack, which lanes that are not active load.
pub(in crate::lower) struct Zeros {
    place: Value,
    /// The bytes that are loaded, counted from the middle.
    read: Range<i64>,
}

impl Lower<'_> {
    /// Loads one element for each lane from anywhere.
    pub(super) fn gather(
        &mut self,
        gather: &Gather,
        address: Value,
        access: MemAccess,
        vty: Type,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        if let Place::Own(own) = &gather.place {
            return self.load_own(own, gather.how, access, vty, at);
        }
        if let Some(before) = gather.word {
            let words = self.gather_words(gather, before, access, address, at)?;
            return Ok(self.parts_of_words(words, before, vty));
        }
        if let How::Between(between) = gather.how {
            return self.load_between(&between, access, vty, at);
        }
        if let How::Stepped(step) = gather.how {
            return self.load_stepped(address, step, access, vty, at);
        }
        let split = match &gather.place {
            Place::Indexed(split) => Some(split),
            _ => None,
        };
        if let (Some(split), How::Avx2(lanes)) = (split, gather.how) {
            let place = self.indexed(split, at)?;
            let mask = self.mask_vector(at)?;
            return Ok(self.gather_by_avx2(&place, mask, vty, lanes, at));
        }
        let ptrs = self.addresses(address, split, at)?;
        if gather.how == How::Native {
            let mask = self.mask_or_true(at)?;
            return Ok(self.masked_load("llvm.masked.gather", ptrs, access, mask, vty, at));
        }
        self.load_lanes(ptrs, access, vty, at)
    }

    /// Scalarized loads, each so many bytes behind the one before.
    fn load_stepped(
        &mut self,
        address: Value,
        step: i64,
        access: MemAccess,
        vty: Type,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let elem = vty.elem().map_or(Type::Void, Type::from);
        let first = self.scalar(address, at)?;
        let offsets = (0..self.width).map(|k| step.wrapping_mul(k.into()));
        let lanes = offsets.map(|offset| self.load_behind(first, offset, access, elem, at)).collect();
        Ok(self.collected(lanes, elem, vty))
    }

    /// Scalarized stores, each so many bytes behind the one before.
    fn store_stepped(
        &mut self,
        x: Value,
        address: Value,
        step: i64,
        access: MemAccess,
        at: Inst,
    ) -> Result<(), VectorizeError> {
        let elem = self.out.ty(x).elem().map_or(Type::Void, Type::from);
        let first = self.scalar(address, at)?;
        for k in 0..self.width {
            let ptr = self.offset_by(first, step.wrapping_mul(k.into()));
            self.store_lane((x, elem, k), ptr, access, at);
        }
        Ok(())
    }

    /// Scalarized loads.
    fn load_lanes(
        &mut self,
        ptrs: Value,
        access: MemAccess,
        vty: Type,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let elem = vty.elem().map_or(Type::Void, Type::from);
        let size = self.module.layout.store_size(&self.module.types, elem).unwrap_or(PART_BYTES);
        let ptrs = self.zeros_where_inactive(ptrs, 0..size as i64, at)?;
        let lanes = (0..self.width).map(|k| self.load_row(ptrs, k, 0, access, elem, at)).collect();
        Ok(self.collected(lanes, elem, vty))
    }

    /// The vector of what scalarized loads have loaded.
    fn collected(&mut self, lanes: Vec<Value>, elem: Type, vty: Type) -> Value {
        // A vector of narrow elements is one chain of insertions, one of wider ones has a chain in each part of a
        // register.
        let wide = if matches!(elem, Type::Int(8 | 16)) { Type::Int(32) } else { elem };
        let wide_ty = wide.vector(self.width).expect("memory elements are scalars");
        let mut all = self.out.poison(wide_ty);
        for (k, mut x) in lanes.into_iter().enumerate() {
            if wide != elem {
                x = self.emit(Op::Cast(CastOp::ZExt), &[x], wide);
            }
            all = self.insert_lane(all, x, k as u32);
        }
        if wide == elem { all } else { self.emit(Op::Cast(CastOp::Trunc), &[all], vty) }
    }

    /// Stores one element of each lane anywhere, in lane order.
    pub(super) fn scatter(
        &mut self,
        scatter: &Scatter,
        x: Value,
        address: Value,
        access: MemAccess,
        at: Inst,
    ) -> Result<(), VectorizeError> {
        let split = match &scatter.place {
            Place::Own(own) => return self.store_own(own, x, at),
            Place::Indexed(split) => Some(split),
            Place::Pointers => None,
        };
        if let How::Stepped(step) = scatter.how {
            return self.store_stepped(x, address, step, access, at);
        }
        let ptrs = self.addresses(address, split, at)?;
        if scatter.how == How::Native {
            let mask = self.mask_or_true(at)?;
            self.masked_store("llvm.masked.scatter", x, ptrs, access, mask, at);
            return Ok(());
        }
        self.store_lanes(x, ptrs, access, at)
    }

    /// Scalarized stores.
    fn store_lanes(
        &mut self,
        x: Value,
        ptrs: Value,
        access: MemAccess,
        at: Inst,
    ) -> Result<(), VectorizeError> {
        let ptrs = self.harmless_where_inactive(ptrs, at)?;
        let elem = self.out.ty(x).elem().map_or(Type::Void, Type::from);
        for k in 0..self.width {
            let ptr = self.lane_pointer(ptrs, k);
            self.store_lane((x, elem, k), ptr, access, at);
        }
        Ok(())
    }

    /// Stores an element of a vector.
    fn store_lane(&mut self, (x, elem, k): (Value, Type, u32), ptr: Value, access: MemAccess, at: Inst) {
        let lane = self.extract_lane(x, elem, k);
        let store = self.emit_void(Op::Store(access), &[lane, ptr]);
        self.copy_metadata(at, store);
    }

    /// Loads neighbouring elements under a mask that the machine has no such instruction for.
    pub(super) fn load_one_by_one(
        &mut self,
        ptr: Value,
        access: MemAccess,
        vty: Type,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let elem = vty.elem().map_or(Type::Void, Type::from);
        let ptrs = self.neighbours(ptr, elem);
        self.load_lanes(ptrs, access, vty, at)
    }

    /// Stores them.
    pub(super) fn store_one_by_one(
        &mut self,
        x: Value,
        ptr: Value,
        access: MemAccess,
        at: Inst,
    ) -> Result<(), VectorizeError> {
        let elem = self.out.ty(x).elem().map_or(Type::Void, Type::from);
        let ptrs = self.neighbours(ptr, elem);
        self.store_lanes(x, ptrs, access, at)
    }

    /// The addresses of neighbouring elements.
    fn neighbours(&mut self, ptr: Value, elem: Type) -> Value {
        let numbers = self.steps(64, 1);
        let ptrs = Type::PTR.vector(self.width).expect("a pointer is a scalar");
        self.emit(Op::Gep(elem), &[ptr, numbers], ptrs)
    }

    /// The pointers of active lanes, and elsewhere one to a place that nobody looks at.
    fn harmless_where_inactive(&mut self, ptrs: Value, at: Inst) -> Result<Value, VectorizeError> {
        let Some(mask) = self.mask_vector(at)? else { return Ok(ptrs) };
        let place = self.room_for_a_vector();
        self.pointers_or(mask, ptrs, place, at)
    }

    /// Memory on the stack that nobody looks at later, with room for any vector.
    pub(super) fn room_for_a_vector(&mut self) -> Value {
        let place = match self.nobodys_place.expand() {
            Some(place) => place,
            None => self.room_on_both_sides(),
        };
        self.nobodys_place = place.into();
        place
    }

    /// The pointers of active lanes, and elsewhere one to zeros, of which these bytes are read. Whatever else lay there
    /// might be denormal numbers, which some processors take a hundred times as long for.
    fn zeros_where_inactive(
        &mut self,
        ptrs: Value,
        read: Range<i64>,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let Some(mask) = self.mask_vector(at)? else { return Ok(ptrs) };
        let zeros = match self.zeros.take() {
            Some(Zeros { place, read: r }) => {
                Zeros { place, read: r.start.min(read.start)..r.end.max(read.end) }
            }
            None => Zeros { place: self.room_on_both_sides(), read },
        };
        let place = zeros.place;
        self.zeros = Some(zeros);
        self.pointers_or(mask, ptrs, place, at)
    }

    /// The pointers of active lanes, and elsewhere one into the middle of memory on the stack.
    fn pointers_or(
        &mut self,
        mask: Value,
        ptrs: Value,
        place: Value,
        at: Inst,
    ) -> Result<Value, VectorizeError> {
        let middle = self.offset_by(place, ROOM as i64);
        let vty = self.out.ty(ptrs);
        let places = self.splat(middle, at)?;
        Ok(self.emit(Op::Select, &[mask, ptrs, places], vty))
    }

    /// Memory on the stack, with room for a group on both sides of its middle.
    fn room_on_both_sides(&mut self) -> Value {
        let one = self.out.int_const(32, 1);
        let ty = self.module.types.array(Type::Int(8), 2 * ROOM);
        let op = Op::Alloca { ty, align: PART_BYTES };
        let inst = self.out.make_inst(self.out.entry(), op, &[one], &[Type::PTR]);
        self.allocas.push(inst);
        self.out.insts[inst].results[0]
    }

    /// Writes the zeros that are read where the function begins: whole parts, which a few stores write.
    pub(in crate::lower) fn write_zeros(&mut self) {
        let Some(Zeros { place, read }) = self.zeros.take() else { return };
        let (entry, part) = (self.out.entry(), PART_BYTES as i64);
        let begin = (ROOM as i64 + read.start).div_euclid(part) * part;
        let bytes = (ROOM as i64 + read.end - begin).max(0).unsigned_abs().next_multiple_of(PART_BYTES);
        let behind = self.out.int_const(64, begin as u128);
        let first = self.out.make_inst(entry, Op::Gep(Type::Int(8)), &[place, behind], &[Type::PTR]);
        let to = self.out.insts[first].results[0];
        let [zero, bytes, volatile] =
            [(8, 0), (64, u128::from(bytes)), (1, 0)].map(|(bits, n)| self.out.int_const(bits, n));
        let params = [Type::PTR, Type::Int(8), Type::Int(64), Type::BOOL];
        let effects = Effects::WRITES;
        let memset = self.module.function_symbol("llvm.memset.p0.i64", &params, Type::Void, effects);
        let op = self.call_op(memset, effects);
        let call = self.out.make_inst(entry, op, &[to, zero, bytes, volatile], &[]);
        self.allocas.extend([first, call]);
    }

    fn lane_pointer(&mut self, ptrs: Value, k: u32) -> Value {
        let ty = self.out.ty(ptrs).elem().map_or(Type::PTR, Type::from);
        self.extract_lane(ptrs, ty, k)
    }

    /// Loads what lies so many bytes behind a lane's pointer.
    fn load_row(&mut self, ptrs: Value, k: u32, offset: i64, access: MemAccess, ty: Type, at: Inst) -> Value {
        let ptr = self.lane_pointer(ptrs, k);
        self.load_behind(ptr, offset, access, ty, at)
    }

    /// Loads what lies so many bytes behind a pointer.
    fn load_behind(&mut self, ptr: Value, offset: i64, access: MemAccess, ty: Type, at: Inst) -> Value {
        let ptr = self.offset_by(ptr, offset);
        let align = at_distance(access.align.min(PART_BYTES), offset);
        let new = self.out.append(self.block, Op::Load(MemAccess { align, ..access }), &[ptr], ty);
        self.copy_metadata(at, new);
        self.out.insts[new].results[0]
    }

    /// Loads of a group whose lanes are anywhere.
    pub(super) fn load_rows(&mut self, group: &Group, split: Option<&Split>) -> Result<(), VectorizeError> {
        let first = group.members[0].inst;
        let Some(accessed) = self.src.accessed(first) else {
            return Err(self.internal(first, "a group has members that are no accesses"));
        };
        let (access, size) = (accessed.access, group.size as i64);
        let elem = self.element_of(group);
        let ptrs = self.addresses(accessed.address, split, first)?;
        let rows = group.rows();
        let read = rows.iter().map(|row| row.from * size..(row.from + i64::from(row.len)) * size);
        let read = read.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0);
        let ptrs = self.zeros_where_inactive(ptrs, read, first)?;
        for (n, row) in rows.iter().enumerate() {
            let row_ty = match row.len {
                1 => elem,
                len => elem.vector(len).expect("memory elements are scalars"),
            };
            let loaded: Vec<Value> = (0..self.width)
                .map(|k| self.load_row(ptrs, k, row.from * size, access, row_ty, first))
                .collect();
            let columns = self.transposed(&loaded, row, elem, group.size);
            let first_with = |m: &&Member| rows.iter().position(|row| row.contains(m.offset));
            for m in group.members.iter().filter(|m| first_with(m) == Some(n)) {
                let result = self.src.insts[m.inst].results[0];
                let column = columns[(m.offset - row.from) as usize];
                let column = self.as_value(column, elem, self.src.ty(result));
                self.define(result, column);
            }
        }
        Ok(())
    }

    /// The columns of a matrix with a row of at most [`PART_BYTES`] for each lane. Rows are laid side by side so that
    /// what is left to do are shuffles within parts of a register.
    fn transposed(&mut self, rows: &[Value], row: &Row, elem: Type, size: u64) -> Vec<Value> {
        let vty = elem.vector(self.width).expect("memory elements are scalars");
        if row.len == 1 {
            let mut all = self.out.poison(vty);
            for (k, &x) in rows.iter().enumerate() {
                all = self.insert_lane(all, x, k as u32);
            }
            return vec![all];
        }
        let rows: Vec<Value> = match row.len {
            3 => rows.iter().map(|&x| self.with_a_fourth(x, elem)).collect(),
            _ => rows.to_vec(),
        };
        let per_part = (PART_BYTES / size) as usize;
        let len = (row.len as usize).next_power_of_two();
        // In part *m*, the *j*-th vector has these rows: as many as fit.
        let (together, vectors) = (per_part / len, len);
        let side_by_side = |j: usize| -> Vec<Value> {
            let parts = rows.chunks(per_part);
            parts.flat_map(|p| p[j * together..(j + 1) * together].iter().copied()).collect()
        };
        let beside: Vec<Vec<Value>> = (0..vectors).map(side_by_side).collect();
        let beside: Vec<Value> = beside.into_iter().map(|rows| self.joined(rows)).collect();
        match (len, per_part) {
            (2, 4) => vec![
                self.shuffle_parts(beside[0], beside[1], [0, 2, 4, 6]),
                self.shuffle_parts(beside[0], beside[1], [1, 3, 5, 7]),
            ],
            (2, _) => vec![
                self.shuffle_parts(beside[0], beside[1], [0, 2]),
                self.shuffle_parts(beside[0], beside[1], [1, 3]),
            ],
            _ => {
                let halves: Vec<[Value; 2]> = [[0, 4, 1, 5], [2, 6, 3, 7]]
                    .map(|pick| [(0, 1), (2, 3)].map(|(a, b)| self.shuffle_parts(beside[a], beside[b], pick)))
                    .to_vec();
                { halves }
                    .into_iter()
                    .flat_map(|[a, b]| {
                        [[0, 1, 4, 5], [2, 3, 6, 7]].map(|pick| self.shuffle_parts(a, b, pick))
                    })
                    .collect()
            }
        }
    }

    /// Two vectors with the same shuffle in each part of them, of which the elements are counted from the part's
    /// first, those of the second vector behind those of the first.
    fn shuffle_parts<const N: usize>(&mut self, a: Value, b: Value, pick: [usize; N]) -> Value {
        let (ty, all) = (self.out.ty(a), self.width as usize);
        let place = |k: usize| {
            let (part, from) = (k / N * N, pick[k % N]);
            (part + from % N + if from >= N { all } else { 0 }) as i32
        };
        let places = (0..all).map(place).collect();
        self.emit(Op::Shuffle(places), &[a, b], ty)
    }

    fn with_a_fourth(&mut self, x: Value, elem: Type) -> Value {
        let nothing = self.out.poison(self.out.ty(x));
        let four = elem.vector(4).expect("memory elements are scalars");
        self.emit(Op::Shuffle([0, 1, 2, -1].into()), &[x, nothing], four)
    }
}
