//! Loads at known offsets, as their [recipe](crate::recipes) says.

use warpline_ir::{Constant, Inst, Op, Type};

use super::super::Lower;
use crate::VectorizeError;
use crate::recipes::Window;

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
}
