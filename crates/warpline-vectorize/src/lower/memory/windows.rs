//! Loads at known offsets, and accesses in rings, as their [recipe](crate::recipes) says.

use warpline_ir::{BinaryOp, Constant, Inst, IntPred, Op, Type, Value};

use super::super::Lower;
use crate::VectorizeError;
use crate::recipes::{Ring, Window};

impl Lower<'_> {
    /// Loads a stretch of memory, and gives each lane its element of it.
    pub(in crate::lower) fn load_window(&mut self, i: Inst, window: &Window) -> Result<(), VectorizeError> {
        let (access, address, result) = self.parts_of_load(i)?;
        let elem = self.element_in_memory(self.src.ty(result), i)?;
        let addresses = self.vector(address, i)?;
        let ptr = self.extract_lane(addresses, self.src.ty(address), 0);
        let ptr = self.offset_by(ptr, window.first);
        let access = self.aligned_for_lane_0(access, elem);
        if window.elements == 1 {
            let loaded = self.emit(Op::Load(access), &[ptr], elem);
            let all = self.splat(loaded, i)?;
            return self.define_loaded(i, all, elem, result);
        }
        let vty = elem.vector(window.elements).expect("memory elements are scalars");
        let loaded = if window.is_masked {
            let mask = self.mask_or_true(i)?;
            let none = self.out.constant_value(Constant::Zero(self.out.ty(mask)));
            let lane = |first: Option<u32>| first.unwrap_or(self.width) as i32;
            let lanes = window.first_lanes().into_iter().map(lane).collect();
            let bools = Type::BOOL.vector(window.elements).expect("a truth value is a scalar");
            let mask = self.emit(Op::Shuffle(lanes), &[mask, none], bools);
            self.masked_load("llvm.masked.load", ptr, access, mask, vty, i)
        } else {
            self.emit(Op::Load(access), &[ptr], vty)
        };
        let nothing = self.out.poison(vty);
        let places = window.of_lane.iter().map(|&element| element as i32).collect();
        let lanes = elem.vector(self.width).expect("memory elements are scalars");
        let found = self.emit(Op::Shuffle(places), &[loaded, nothing], lanes);
        self.define_loaded(i, found, elem, result)
    }

    /// Loads neighbours in a ring.
    pub(in crate::lower) fn load_in_ring(&mut self, i: Inst, ring: &Ring) -> Result<(), VectorizeError> {
        let (access, address, result) = self.parts_of_load(i)?;
        let elem = self.element_in_memory(self.src.ty(result), i)?;
        let vty = elem.vector(self.width).expect("memory elements are scalars");
        let [before, behind] = self.parts_of_ring(i, ring, address)?;
        let access = self.aligned_for_lane_0(access, elem);
        let mut load =
            |part: Part| self.masked_load("llvm.masked.load", part.address, access, part.mask, vty, i);
        let (first, second) = (load(before), load(behind));
        let loaded = self.emit(Op::Select, &[before.lanes, first, second], vty);
        self.define_loaded(i, loaded, elem, result)
    }

    /// Stores neighbours in a ring.
    pub(in crate::lower) fn store_in_ring(&mut self, i: Inst, ring: &Ring) -> Result<(), VectorizeError> {
        let (access, value, address) = self.parts_of_store(i)?;
        let (x, elem) = self.stored(i, value)?;
        let access = self.aligned_for_lane_0(access, elem);
        for part in self.parts_of_ring(i, ring, address)? {
            self.masked_store("llvm.masked.store", x, part.address, access, part.mask, i);
        }
        Ok(())
    }

    /// The lanes before the end of a ring, and those behind it. Where there are none of these, nothing but what the
    /// others access is pointed to: masked accesses to pages that are not there take long.
    fn parts_of_ring(&mut self, i: Inst, ring: &Ring, address: Value) -> Result<[Part; 2], VectorizeError> {
        let addresses = self.vector(address, i)?;
        let start = self.extract_lane(addresses, self.src.ty(address), 0);
        let (numbers, ty) = (self.vector(ring.number, i)?, self.src.ty(ring.number));
        let number = self.extract_lane(numbers, ty, 0);
        let bits = ty.int_bits().expect("the number of an element is an integer");
        let (elements, lanes) =
            (self.out.int_const(bits, ring.elements.into()), self.out.int_const(bits, self.width.into()));
        let left = self.emit(Op::Binary(BinaryOp::Sub), &[elements, number], ty);
        let wraps = self.emit(Op::ICmp(IntPred::Ult), &[left, lanes], Type::BOOL);
        let left = self.emit(Op::Select, &[wraps, left, lanes], ty);
        let earlier = self.offset_by(start, -ring.bytes);
        let other = self.emit(Op::Select, &[wraps, earlier, start], self.src.ty(address));

        // Lanes are counted in as many bits as an element has, as masks of these are wanted.
        let narrow = 8 * (ring.bytes.unsigned_abs() / ring.elements) as u32;
        let left = self.resized(left, Type::Int(narrow));
        let left = self.splat(left, i)?;
        let (all, bools) = (self.steps(narrow, 1), self.mask_type());
        let before = self.emit(Op::ICmp(IntPred::Ult), &[all, left], bools);
        let behind = self.not(before);
        let [before_mask, behind_mask] = match self.mask_vector(i)? {
            Some(mask) => {
                [before, behind].map(|part| self.emit(Op::Binary(BinaryOp::And), &[mask, part], bools))
            }
            None => [before, behind],
        };
        Ok([
            Part { address: start, mask: before_mask, lanes: before },
            Part { address: other, mask: behind_mask, lanes: behind },
        ])
    }
}

/// Lanes that access neighbours.
#[derive(Copy, Clone)]
struct Part {
    /// Lane 0's, whether it is one of them or not.
    address: Value,
    /// Those of them that are active.
    mask: Value,
    lanes: Value,
}
