//! Loads from uniform addresses that need no active lane.
//!
//! A load from a uniform address is made once for all lanes. In a block that may be executed with an empty mask it
//! could fault, so a [guard](super::any_lane_branches) is put around it, unless it is found here: what it reads is
//! [there](super::objects) in any case.
//!
//! Departure from paper 3, whose masks of memory accesses follow from predicates alone (Theorem 4.1).
//!
//! An earlier access of the same bytes counts if its block dominates the load's, has the mask of the function or of a
//! loop that is around both, and no loop is around the access alone: then whenever the load is made, however control
//! flow was linearized, the access has been made by some lane in the same iteration.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;

use super::linearize_state::LinearizeState;
use super::objects::{Accesses, Extent, Objects, Place, SafeLoad, Wanted};
use warpline_dataflow::linear::Address;
use warpline_ir::{Accessed, Block, Function, Inst, Module, Op, Type, Value};

/// The loads that need no active lane, and how they are made.
pub(crate) type SafeLoads = SecondaryMap<Inst, Option<SafeLoad>>;

/// Whether some lane is active whenever a block is executed, whose mask is that of the function or of a loop around it.
fn has_lane(state: &LinearizeState, b: Block) -> bool {
    let class = state.class_of(b);
    let header = state.loop_at(state.leaders[class]);
    state.always.contains(b) && (class.as_u32() == 0 || header.is_some_and(|l| state.contains(l, b)))
}

/// Finds them in a function whose classes are known.
pub(crate) fn find(module: &Module, state: &mut LinearizeState) -> SafeLoads {
    let mut found = search(module, state);
    keep_bases(&mut state.func, &mut found);
    found
}

/// Bases that are φs may be replaced by other values when masks are made, where only operands of instructions follow:
/// sums with nothing take their place, which are instructions.
fn keep_bases(func: &mut Function, found: &mut SafeLoads) {
    let mut sums: BTreeMap<Value, Value> = BTreeMap::new();
    for safe in found.values_mut().flatten() {
        let Some(phi) = func.def_inst(safe.base).filter(|&i| func.insts[i].op == Op::Phi) else { continue };
        safe.base = *sums.entry(safe.base).or_insert_with(|| {
            let (block, ty) = (func.insts[phi].block, func.ty(safe.base));
            let nothing = func.int_const(64, 0);
            let sum = func.make_inst(block, Op::Gep(Type::Int(8)), &[safe.base, nothing], &[ty]);
            func.blocks[block].insts.insert(0, sum);
            func.insts[sum].results[0]
        });
    }
}

fn search(module: &Module, state: &LinearizeState) -> SafeLoads {
    let func = &state.func;
    let accesses = accesses(module, state);
    let mut found = SafeLoads::new();
    if accesses.wanted.is_empty() {
        return found;
    }
    let objects = Objects::of(module, func);
    for wanted in &accesses.wanted {
        let Wanted { inst, place: (root, terms), offset, size, .. } = wanted;
        let object = objects.extent(*root).filter(|_| terms.is_empty());
        let block = func.insts[*inst].block;
        let around = |b: Block| state.loops_around(b).all(|l| state.contains(l, block));
        let earlier = || Some(objects.made_before(&accesses, wanted, around)?.0);
        found[*inst] = object.and_then(|o| o.load(*root, *offset, *size)).or_else(earlier);
    }
    found
}

/// The accesses of uniform addresses.
fn accesses(module: &Module, state: &LinearizeState) -> Accesses<Place> {
    let func = &state.func;
    let mut found = Accesses::default();
    for &b in &func.layout {
        let always = has_lane(state, b);
        for &inst in &func.blocks[b].insts {
            let Some(Accessed { access, address, ty, writes }) = func.accessed(inst) else { continue };
            if !access.is_simple() || state.facts.divergent.contains(address) || (writes && !always) {
                continue;
            }
            let Some(size) = module.layout.store_size(&module.types, ty) else { continue };
            let Some(Address { root, terms, offset }) = Address::of(module, func, address) else { continue };
            let place = (root, terms.to_vec());
            if always {
                found.add_made(b, address, place, offset, Extent { bytes: size, align: access.align });
            } else {
                found.add_wanted(inst, place, offset, size);
            }
        }
    }
    found
}
