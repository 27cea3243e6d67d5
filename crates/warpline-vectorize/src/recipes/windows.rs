//! Loads at [known offsets](super::known_offsets) from lane 0's address: the stretch of memory that they lie in at
//! once, and a shuffle. Accesses in [rings](Ring): neighbours, but that after the last element comes the first one.
//!
//! The stretch begins and ends with elements that lanes load from one object, so that all between them is there.
//! Lane 0 must load, for its address is what all is computed from: either all lanes are active, or those before one
//! that no iteration is left for.

use std::collections::BTreeSet;

use warpline_dataflow::linear::Address;
use warpline_ir::{BinaryOp, CastOp, Inst, Op, Type, Value, ValueDef};

use super::{Planner, Rep};

/// How many elements a stretch has for each lane at most.
const MAX_ELEMENTS_OF_LANE: u64 = 4;

/// Where lanes load in a stretch of memory.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Where it begins, in bytes from lane 0's address.
    pub first: i64,
    /// How many elements it has.
    pub elements: u32,
    /// Which of them each lane loads.
    pub of_lane: Vec<u32>,
    /// Whether it is loaded under a mask.
    pub is_masked: bool,
}

impl Window {
    /// The first lane that loads each element, if any does.
    pub(crate) fn first_lanes(&self) -> Vec<Option<u32>> {
        let mut first = vec![None; self.elements as usize];
        for (lane, &element) in self.of_lane.iter().enumerate().rev() {
            first[element as usize] = Some(lane as u32);
        }
        first
    }
}

/// A ring of elements, as `buffer[(at + i) & 1023]` goes through: from lane to lane one element further.
///
/// The lanes before the end are accessed in one vector, those behind it in another one, each under a mask.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// The number of a lane's element.
    pub number: Value,
    /// How many elements it has, at least as many as there are lanes.
    pub elements: u64,
    /// The bytes of all of them.
    pub bytes: i64,
}

impl Planner<'_> {
    /// The ring that a load or store goes through, if it does.
    pub(super) fn ring(&self, i: Inst, address: Value, elem: Type) -> Option<Ring> {
        let size = self.module.layout.alloc_size(&self.module.types, elem).filter(|&size| size > 0)?;
        let serves = self.options.machine.masks.serve(8 * size);
        if self.rep(address) != Rep::Varying || !serves || !self.begins_with_lane_0(i) {
            return None;
        }
        let Address { root, terms, .. } = Address::of(self.module, self.func, address)?;
        let mut varying = terms.iter().filter(|t| self.rep(t.value) != Rep::Uniform);
        let (term, others) = (varying.next()?, varying.next());
        let fits =
            self.rep(root) == Rep::Uniform && others.is_none() && u64::try_from(term.scale) == Ok(size);
        let elements = self.elements_of_ring(term.value).filter(|_| fits)?;
        let bytes = i64::try_from(elements.checked_mul(size)?).ok()?;
        (elements >= u64::from(self.width)).then_some(Ring { number: term.value, elements, bytes })
    }

    /// How many numbers one goes around in, from lane to lane to the next one.
    fn elements_of_ring(&self, number: Value) -> Option<u64> {
        let data = &self.func.insts[self.func.def_inst(number)?];
        match (&data.op, &data.args[..]) {
            (Op::Cast(CastOp::ZExt | CastOp::SExt), &[narrow]) => self.elements_of_ring(narrow),
            (Op::Binary(BinaryOp::And), &[x, mask]) => {
                let bits = self.func.ty(number).int_bits().filter(|&bits| bits <= 64)?;
                let elements = self.func.as_int(mask)? + 1;
                let goes_around = elements.is_power_of_two() && elements < 1 << (bits - 1);
                let fits = goes_around && self.rep(x) == Rep::Strided(1);
                fits.then(|| u64::try_from(elements).ok()).flatten()
            }
            _ => None,
        }
    }

    /// The stretch that a load is made in, if one is known.
    pub(super) fn window(&self, i: Inst, address: Value, elem: Type) -> Option<Window> {
        let known = self.offsets.bent(address).filter(|_| self.rep(address) == Rep::Varying)?;
        let size = self.module.layout.alloc_size(&self.module.types, elem).filter(|&size| size > 0)?;
        let mut elements = Vec::new();
        for own in &known.own {
            let distance = own.wrapping_sub(known.own[0]).cast_signed();
            (distance.rem_euclid(size.cast_signed()) == 0)
                .then(|| elements.push(distance / size.cast_signed()))?;
        }
        let (least, most) = (*elements.iter().min()?, *elements.iter().max()?);
        let count = most.checked_sub(least)?.unsigned_abs() + 1;
        let is_masked = self.is_masked(i) && count > 1;
        let is_dense = elements.iter().collect::<BTreeSet<_>>().len() as u64 == count;
        // Sanitizers report loads of more than what the program loads.
        let is_allowed = !self.func.is_sanitized || is_dense;
        let serves = !is_masked || self.options.machine.masks.serve(8 * size);
        let fits = count <= MAX_ELEMENTS_OF_LANE * u64::from(self.width);
        (fits && serves && is_allowed && self.begins_with_lane_0(i)).then(|| Window {
            first: least * size.cast_signed(),
            elements: count as u32,
            of_lane: elements.iter().map(|e| (e - least) as u32).collect(),
            is_masked,
        })
    }

    /// Whether the lanes that are active are those before some lane, of which there is one.
    fn begins_with_lane_0(&self, i: Inst) -> bool {
        let is_entry = |m: Value| matches!(self.func.values[m].def, ValueDef::Param(_));
        match self.block_mask(i).expand() {
            Some(m) if self.is_masked(i) => self.options.region.is_some() && is_entry(m),
            _ => true,
        }
    }
}
