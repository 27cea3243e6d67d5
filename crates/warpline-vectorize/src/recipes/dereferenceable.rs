//! Loads of consecutive elements that need no mask, since [what they read is there](crate::objects) for all lanes.
//!
//! * Lane 0's address is a constant distance from the start of an object, and the last lane's bytes are in it:
//!   private memory that is laid out for all lanes, and tables that are indexed by the number of the lane.
//! * All lanes have accessed the same bytes before: in a block without a mask that dominates the load's in the lane
//!   program, at the same address up to a constant. A store counts, so what a kernel sets first and then adds to
//!   under some condition is loaded without a mask.

use cranelift_entity::SecondaryMap;

use super::memory::memory_element;
use super::reps::Rep;
use crate::alignment::at_distance;
use crate::objects::{Accesses, Extent, Objects, SafeLoad, Wanted};
use warpline_dataflow::linear::{Address, Term};
use warpline_ir::{Accessed, Block, Function, Inst, LaneOp, Module, Op, Type, Value};

/// The loads that need no mask, and how lane 0's element is found.
#[derive(Default)]
pub(crate) struct Covered(SecondaryMap<Inst, Option<SafeLoad>>);

impl Covered {
    /// How a load of consecutive elements is made that needs no mask; `None` if it may need one.
    pub(crate) fn load(&self, i: Inst) -> Option<SafeLoad> {
        self.0[i]
    }

    /// Finds them in a lane program.
    pub(crate) fn compute(
        module: &Module,
        func: &Function,
        reps: &SecondaryMap<Value, Rep>,
        width: u32,
    ) -> Covered {
        let mut search = Search { module, func, reps, width, accesses: Accesses::default() };
        for &b in &func.layout {
            for &i in &func.blocks[b].insts {
                search.instruction(b, i);
            }
        }
        let mut covered = Covered::default();
        if search.accesses.wanted.is_empty() {
            return covered;
        }
        let objects = Objects::of(module, func);
        for wanted in &search.accesses.wanted {
            let earlier = || objects.made_before(&search.accesses, wanted, |_| true);
            covered.0[wanted.inst] = search.inside(wanted, &objects).or_else(earlier);
        }
        covered
    }
}

/// What is added to a base, up to a constant, and the distance from lane to lane.
type Place = (Value, Vec<Term>, i64);

struct Search<'a> {
    module: &'a Module,
    func: &'a Function,
    reps: &'a SecondaryMap<Value, Rep>,
    width: u32,
    accesses: Accesses<Place>,
}

impl Search<'_> {
    fn instruction(&mut self, block: Block, inst: Inst) {
        let Some(Accessed { access, address, ty, writes }) = self.func.accessed(inst) else { return };
        let Rep::Strided(step) = self.reps[address] else { return };
        let all = self.func.blocks[block].mask.is_none();
        if !access.is_simple() || (writes && !all) {
            return;
        }
        let (layout, types) = (&self.module.layout, &self.module.types);
        let Some(Address { root, terms, offset }) = Address::of(self.module, self.func, address) else {
            return;
        };
        let place = (root, terms.to_vec(), step);
        if all {
            let Some(bytes) = layout.store_size(types, ty) else { return };
            let extent = Extent { bytes, align: at_distance(access.align, step) };
            self.accesses.add_made(block, address, place, offset, extent);
        } else if let Some(elem) = memory_element(layout, types, ty)
            && let Some(size) = layout.alloc_size(types, Type::from(elem))
            && i64::try_from(size) == Ok(step)
        {
            self.accesses.add_wanted(inst, place, offset, size);
        }
    }

    /// The load, if it is in an object whatever lanes are active.
    fn inside(&self, wanted: &Wanted<Place>, objects: &Objects<'_>) -> Option<SafeLoad> {
        let (root, terms, step) = &wanted.place;
        let own = match self.reps[*root] {
            Rep::Uniform => 0,
            Rep::Strided(step) => step,
            Rep::Varying => return None,
        };
        // The number of the lane is 0 in lane 0; nothing else is known of lane 0, which may be inactive.
        let lanes = terms.iter().all(|t| {
            let is_lane = |i: Inst| self.func.insts[i].op == Op::Lane(LaneOp::LaneIndex);
            self.func.def_inst(t.value).is_some_and(is_lane)
        });
        // Private memory with a step is laid out for all lanes; of a parameter with a step, each active lane has its
        // own.
        let private = self.func.def_inst(*root).is_some();
        let object = match (own, &terms[..]) {
            (0, _) if lanes => objects.extent(*root)?,
            (_, []) if private => objects.extent(*root)?,
            _ => return None,
        };
        let others = step.checked_mul(i64::from(self.width) - 1).filter(|_| *step > 0)?;
        let bytes = object.bytes.checked_sub(others.unsigned_abs())?;
        Extent { bytes, ..object }.load(*root, wanted.offset, wanted.size)
    }
}
