//! Which classes get a test for speed.
//!
//! A test pays if what it saves, the [cost](super::cost) of its block and of all that this dominates times the
//! [chance] that no lane comes, is more than what it takes: to ask the mask, to branch, and now and then to guess the
//! branch wrongly. Blocks are decided on from the outside in. Behind a test, what counts is the chance that nobody
//! wants the inner block although somebody wants the outer one; so a second test of much the same gets no chance.
//!
//! What a condition adds to a [sum of narrow numbers](crate::recipes::sums) is not tested for: one instruction adds it
//! up for many lanes, with zeros for those without, if it is there wherever the sum goes on.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

use crate::Boscc;
use crate::linearize_state::{Class, LinearizeState};
use crate::options::AddedUp;
use crate::recipes::sums::{additions, summand};
use warpline_ir::{Block, Module, Op, Users};
use warpline_target::Machine;

use super::chance;
use super::cost::{Costs, dominators, idom};

/// Asking a mask and branching.
const TEST: f64 = 4.0;
/// Of which nothing is known may be rare: at least so often no lane is expected there, however many there are.
const RARE_CODE: f64 = 1.0 / 8.0;

/// The tests for speed.
pub(crate) struct Chosen {
    /// The classes, besides those that need a test, whose first block is to be executed only if it has an active lane.
    pub(crate) classes: EntitySet<Class>,
    /// What is known of the lanes of classes.
    pub(crate) expected: SecondaryMap<Class, Option<Expected>>,
}

/// How likely it is that a class has an active lane where that is asked.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct Expected {
    /// That a single lane is.
    pub(crate) lane: f64,
    /// That some lane of so many is.
    pub(crate) somebody: f64,
    pub(crate) lanes: u32,
}

/// What decides beside the function.
pub(crate) struct Setting<'a> {
    pub(crate) tests: Boscc,
    pub(crate) machine: &'a Machine,
    pub(crate) width: u32,
    /// What a loop adds up.
    pub(crate) sums: &'a [AddedUp],
}

/// The classes, besides those in `needed`, whose first block is to be executed only if it has an active lane.
pub(crate) fn classes_to_test(
    state: &LinearizeState,
    module: &Module,
    needed: &EntitySet<Class>,
    setting: &Setting<'_>,
) -> Chosen {
    let Setting { tests, machine, width, sums } = *setting;
    let added = if machine.byte_sums > 0 { classes_of_sums(state, module, sums) } else { EntitySet::new() };
    let mut chosen = EntitySet::with_capacity(state.leaders.len());
    let mut expected = SecondaryMap::new();
    let dom = dominators(state);
    let regions = Costs::new(state, module, machine, width).of_regions(&dom);
    let chances = chance::of_classes(state);
    // By block: the innermost class around that is known to have an active lane, if there is one.
    let mut around: SecondaryMap<Block, PackedOption<Class>> = SecondaryMap::new();
    for &n in dom.pre_order() {
        let b = Block::from(n);
        let outer = idom(&dom, b).and_then(|d| around[d].expand());
        around[b] = outer.into();
        let c = state.class_of(b);
        if state.leaders[c] != b || c.as_u32() == 0 {
            continue;
        }
        let guessed = chances[c].weighed().is_none() && chances[c].lane < 1.0;
        let nobody = chances[c].of_nobody(outer.map(|o| &chances[o]), width);
        let nobody = if guessed { nobody.max(RARE_CODE) } else { nobody };
        let somebody = 1.0 - nobody;
        expected[c] = chances[c].weighed().map(|lane| Expected { lane, somebody, lanes: width });
        let pays = || nobody * regions[b] > TEST + machine.misprediction() * 2.0 * nobody * (1.0 - nobody);
        let wanted = || match tests {
            Boscc::Off => false,
            Boscc::On => true,
            Boscc::Auto => !added.contains(c) && pays(),
        };
        if !needed.contains(c) && can_be_tested(state, b) && wanted() {
            chosen.insert(c);
        }
        if needed.contains(c) || chosen.contains(c) || state.loop_at(b).is_some() {
            around[b] = c.into();
        }
    }
    Chosen { classes: chosen, expected }
}

/// The classes in which narrow numbers are computed that a sum gets under a condition.
fn classes_of_sums(state: &LinearizeState, module: &Module, sums: &[AddedUp]) -> EntitySet<Class> {
    let mut found = EntitySet::new();
    let func = &state.func;
    if sums.is_empty() {
        return found;
    }
    let users = Users::of(func);
    let starts = sums.iter().filter_map(|sum| func.params.get(sum.parameter).copied());
    for addition in starts.filter_map(|start| additions(func, &users, start)).flatten() {
        let phi = func.def_inst(addition.added).filter(|&i| func.insts[i].op == Op::Phi);
        let Some((phi, position)) = phi.and_then(|phi| Some((phi, func.phi_position(phi)?))) else {
            continue;
        };
        for &edge in &func.blocks[func.insts[phi].block].preds {
            let v = func.edges[edge].args[position];
            if summand(module, func, v, func.ty(v)).is_some() {
                found.insert(state.class_of(func.edges[edge].from));
            }
        }
    }
    found
}

/// Whether the first block of a class can have a test. The class of a divergent loop has a lane because the loop
/// goes on only if any lane does, and what leads into a dead end asks whether any lane goes there anyway.
fn can_be_tested(state: &LinearizeState, leader: Block) -> bool {
    state.loop_at(leader).is_none() && !state.dead_ends.contains(leader)
}
