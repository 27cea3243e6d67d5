//! Loads of consecutive elements that need no mask, since [what they read is there](crate::objects) for all lanes.
//!
//! * Lane 0's address is a constant distance from the start of an object, and the last lane's bytes are in it:
//!   private memory that is laid out for all lanes, and tables that are indexed by the number of the lane.
//! * All lanes have accessed the same bytes before: in a block without a mask that dominates the load's in the lane
//!   program, at the same address up to a constant. A store counts, so what a kernel sets first and then adds to
//!   under some condition is loaded without a mask.
//!
//! Where lanes are further apart, each lane has mostly accessed another field of its structure. What lies between
//! what two neighbouring lanes have accessed belongs to the object that both belong to, so the elements of all lanes
//! but one [are there](Between): the last lane's, or the first lane's, has an accessed byte on one side only.

use cranelift_entity::SecondaryMap;

use super::groups::in_reach;
use super::memory::memory_element;
use super::reps::Rep;
use crate::alignment::at_distance;
use crate::objects::{Accesses, Extent, Objects, SafeLoad, Wanted};
use warpline_dataflow::linear::{Address, Term};
use warpline_ir::{Accessed, Block, Function, Inst, LaneOp, Module, Op, Type, Value};

/// The loads that need no mask, and how lane 0's element is found.
#[derive(Default)]
pub(crate) struct Covered {
    consecutive: SecondaryMap<Inst, Option<SafeLoad>>,
    between: SecondaryMap<Inst, Option<Between>>,
}

/// Elements at equal distances that need no mask in any lane but one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Between {
    /// Where lane 0's element is, whether it is there or not.
    pub first: SafeLoad,
    /// Bytes from lane to lane, a multiple of the element's size.
    pub step: i64,
    /// Whether the last lane is the one whose element may not be there, or else the first lane.
    pub but_last: bool,
    /// What is loaded at once.
    pub range: Range,
    /// The block in which all lanes have accessed memory around these elements.
    pub block: Block,
}

/// Neighbouring elements, of which lanes have some.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    /// Where they begin, in elements from lane 0's.
    pub from: i64,
    /// How many they are.
    pub len: u32,
}

impl Range {
    /// From the first to the last element that is there.
    fn between(lanes: Who, step: i64, size: u64, width: u32) -> Range {
        let (first, last) = if lanes == Who::ButLast { (0, width - 2) } else { (1, width - 1) };
        let factor = step / size as i64;
        let ends = [first, last].map(|lane| i64::from(lane) * factor);
        let (from, to) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        Range { from, len: (to - from) as u32 + 1 }
    }
}

impl Covered {
    /// How a load of consecutive elements is made that needs no mask; `None` if it may need one.
    pub(crate) fn load(&self, i: Inst) -> Option<SafeLoad> {
        self.consecutive[i]
    }

    /// How a load of elements at greater distances is made that needs a mask in one lane only; `None` if it may need
    /// one in others.
    pub(crate) fn between(&self, i: Inst) -> Option<Between> {
        self.between[i]
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
            let (_, _, step, lanes) = wanted.place;
            match lanes {
                Who::All => {
                    covered.consecutive[wanted.inst] =
                        search.inside(wanted, &objects).or_else(|| Some(earlier()?.0));
                }
                _ if covered.between[wanted.inst].is_some() => {}
                _ => {
                    covered.between[wanted.inst] = earlier().and_then(|(safe, block)| {
                        let offset = safe.offset.checked_add(lanes.begins(step))?;
                        let first = SafeLoad { offset, ..safe };
                        let range = in_reach(step, wanted.size, width)
                            .then(|| Range::between(lanes, step, wanted.size, width))?;
                        Some(Between { first, step, but_last: lanes == Who::ButLast, range, block })
                    });
                }
            }
        }
        covered
    }
}

/// What is added to a base, up to a constant, the distance from lane to lane, and for which lanes bytes are there.
type Place = (Value, Vec<Term>, i64, Who);

/// The lanes for which bytes are there.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    All,
    /// Bytes between a lane's access and the next lane's.
    ButLast,
    /// Bytes between the access of the lane before and a lane's own.
    ButFirst,
}

impl Who {
    /// Where the bytes begin, from a lane's own access on.
    fn begins(self, step: i64) -> i64 {
        match self {
            Who::All => 0,
            Who::ButLast => step.min(0),
            Who::ButFirst => step.saturating_neg().min(0),
        }
    }
}

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
        let place = |who: Who| (root, terms.to_vec(), step, who);
        if all {
            let Some(bytes) = layout.store_size(types, ty) else { return };
            let align = at_distance(access.align, step);
            self.accesses.add_made(block, address, place(Who::All), offset, Extent { bytes, align });
            for who in [Who::ButLast, Who::ButFirst] {
                let Some(bytes) = bytes.checked_add(step.unsigned_abs()) else { continue };
                self.accesses.add_made(block, address, place(who), offset, Extent { bytes, align });
            }
        } else if let Some(elem) = memory_element(layout, types, ty)
            && let Some(size) = layout.alloc_size(types, Type::from(elem))
            && let Ok(bytes) = i64::try_from(size)
        {
            if bytes == step {
                self.accesses.add_wanted(inst, place(Who::All), offset, size);
            } else if self.width > 1 && in_reach(step, size, self.width) {
                for who in [Who::ButLast, Who::ButFirst] {
                    if let Some(offset) = offset.checked_sub(who.begins(step)) {
                        self.accesses.add_wanted(inst, place(who), offset, size);
                    }
                }
            }
        }
    }

    /// The load, if it is in an object whatever lanes are active.
    fn inside(&self, wanted: &Wanted<Place>, objects: &Objects<'_>) -> Option<SafeLoad> {
        let (root, terms, step, _) = &wanted.place;
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
