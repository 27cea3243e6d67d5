//! What a loop hardly overwrites is loaded before it, and checked there.
//!
//! ```c
//! for (int i = 0; i < image->width; i++) image->pixels[i] = 255 - image->pixels[i];
//! ```
//!
//! Where pixels are bytes, or languages know no types of memory, each store may change `width` and `pixels`, for all
//! that the code says: nobody knows how many iterations there are, or where the next one stores. So the loop is made
//! twice. In one of the two, what says how often it runs and where it loads and stores is loaded once, before it; this
//! one is vectorized, and runs if the checks of pointers say that no store goes to where that was loaded. The other one
//! is the loop as it was. That is done on [request](super::Unit::holds): most loops are vectorized without.

use cranelift_entity::EntitySet;
use warpline_dataflow::linear::Address;
use warpline_ir::{Block, Function, Inst, Module, Op, Value};

use super::find::{Loop, dominates};
use super::invariant::{self, Accesses, Hoisted, Loads};
use super::peel;
use super::registers::{self, Loaded};
use super::there::There;
use crate::VectorizeError;
use crate::copies::Twice;
use crate::dependences::{Apart, Held};

/// So many instructions are copied at most.
const MAX_INSTS: usize = 1_000;

/// What a loop is to hold in registers that it may overwrite in memory.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub enum Holds {
    /// What certainly nothing overwrites.
    #[default]
    Nothing,
    /// What is there when the loop begins.
    There,
    /// Also what iterations access under conditions: until one of them holds, the loop runs as it was.
    Awaited,
}

/// What a loop takes for granted.
pub(super) struct Assumed {
    /// Leads to the loop as it was.
    pub(super) otherwise: Block,
    /// Branches there, or to the loop that takes it for granted.
    branch: Inst,
    /// What was loaded before the loop, and must not be overwritten in it.
    pub(super) held: Vec<Held>,
    /// Checks that must pass in all iterations, since what was loaded is poison if the first one does not pass them.
    pub(super) passed: Vec<Inst>,
}

impl Assumed {
    /// Lets control go to the loop that takes things for granted: whoever checks them leads on where they do not hold.
    pub(super) fn decide(&self, func: &mut Function) {
        let on = func.insts[self.branch].edges[0];
        func.always_take(on);
    }

    /// The error if a loop has nothing to take for granted.
    pub(super) fn none(func: &Function, l: &Loop) -> VectorizeError {
        let reason =
            "nothing says how often this loop runs, or where it accesses memory, that it might overwrite";
        VectorizeError::at_block(func, l.header, reason)
    }

    /// The error if it cannot be checked in this loop.
    pub(super) fn refuse(&self, func: &Function, l: &Loop) -> VectorizeError {
        let reason = "iterations may store to what others load that says how many there are, or where they load and \
                      store: load that before the loop";
        VectorizeError::at_inst(func, l.test, reason)
    }
}

/// Loads before the loop what it needs to know, although it may be overwritten, and what it [holds in
/// registers](registers). The function and the loop change. What it takes for granted, if that is anything.
///
/// # Errors
/// If there is no such thing.
pub(super) fn assume(
    module: &Module,
    func: &mut Function,
    l: &mut Loop,
    holds: Holds,
) -> Result<Option<Assumed>, VectorizeError> {
    if peel::size(func, l) > MAX_INSTS {
        return Err(Assumed::none(func, l));
    }
    let awaited = if holds == Holds::Awaited { awaited(module, func, l) } else { None };
    if let Some(block) = awaited {
        peel::peel_until(func, l, block);
        *l = l.found_again(func)?;
    }
    let (cells, mut loads) = {
        let accesses = Accesses::of(module, func, l).ok_or_else(|| Assumed::none(func, l))?;
        let there = There::new(module, func, l, awaited);
        let cells = registers::find(module, func, l, &accesses, &there);
        (cells, find(module, func, l, accesses, &there))
    };
    let is_certain = loads.all.is_empty() && cells.iter().all(|c| c.is_alone);
    if loads.all.is_empty() && cells.is_empty() {
        return Err(Assumed::none(func, l));
    }
    let twice = if is_certain { None } else { Some(copy(func, l)) };
    *l = l.found_again(func)?;
    let probes: Vec<Inst> = cells.iter().map(|cell| cell.probe(func)).collect();
    let unsure = probes.iter().zip(&cells).filter(|(_, cell)| !cell.is_first).map(|(&probe, _)| probe);
    loads.unsure.extend(unsure);
    let there = probes.iter().zip(&cells).filter(|(_, cell)| cell.is_there).map(|(&probe, _)| probe);
    loads.there.extend(there);
    loads.all.extend(&probes);
    let Hoisted { replaced, mut held, passed } = invariant::hoist(module, func, l, loads);
    if held.is_empty() {
        return Err(Assumed::none(func, l));
    }
    *l = l.found_again(func)?;
    let mut loaded = Vec::new();
    for (probe, cell) in probes.into_iter().zip(cells) {
        match replaced.iter().position(|&(load, _)| load == probe) {
            Some(at) => {
                held[at].is_stored = true;
                loaded.push(Loaded { cell, value: replaced[at].1, address: held[at].address });
            }
            None => {
                let block = func.insts[probe].block;
                func.blocks[block].insts.retain(|&i| i != probe);
            }
        }
    }
    if !loaded.is_empty() {
        registers::promote(func, l, &loaded);
        *l = l.found_again(func)?;
    }
    invariant::hoist_bounds(module, func, l);
    Ok(twice.map(|(otherwise, branch)| Assumed { otherwise, branch, held, passed }))
}

/// The block in which an iteration loads under a condition what is [not known to be there](super::there) before; of
/// several of which one comes behind the other, the last one.
fn awaited(module: &Module, func: &Function, l: &Loop) -> Option<Block> {
    let Accesses { loads, all, .. } = Accesses::of(module, func, l)?;
    let needed = needed(func, l);
    let there = There::new(module, func, l, None);
    let is_load = |i: &Inst| matches!(func.insts[*i].op, Op::Load(_));
    let is_meant = |i: &Inst| {
        l.own.contains(func.insts[*i].block)
            && !loads.contains(i)
            && !registers::varies(func, l, func.insts[*i].args[0])
            && (needed.contains(func.insts[*i].results[0]) || registers::is_stored(module, func, *i, &all))
            && !there.has(*i)
    };
    let blocks = all.iter().filter(|i| is_load(i)).filter(|i| is_meant(i)).map(|&i| func.insts[i].block);
    blocks.reduce(|a, b| if dominates(&l.dominators, a, b) { b } else { a })
}

/// Loads that the number of iterations or an address is computed from, and that no store certainly changes; also
/// conditional ones of what is there.
fn find(module: &Module, func: &Function, l: &Loop, accesses: Accesses, there: &There<'_>) -> Loads {
    let mut found = Loads { all: Vec::new(), unsure: Vec::new(), there: Vec::new(), may_pass: true };
    let Accesses { mut loads, stores, all, .. } = accesses;
    if all.len() == stores.len() || stores.is_empty() {
        return found;
    }
    let needed = needed(func, l);
    let is_needed = |i: &Inst| needed.contains(func.insts[*i].results[0]);
    loads.retain(is_needed);
    let is_sure = |i: &Inst| loads.contains(i) || stores.contains(i);
    found.there.extend(all.into_iter().filter(|i| !is_sure(i) && is_needed(i) && there.has(*i)));
    loads.extend(&found.there);
    let apart = Apart::new(module, func, None);
    let address = |i: Inst| func.accessed(i).and_then(|a| Address::of(module, func, a.address));
    let stores: Vec<(Inst, Option<Address>)> = stores.into_iter().map(|s| (s, address(s))).collect();
    for load in loads {
        let loaded = address(load);
        let may_meet: Vec<&(Inst, Option<Address>)> =
            stores.iter().filter(|(s, _)| !apart.never_meet(*s, load)).collect();
        // What is at a known distance is of one object at least.
        let is_near = |stored: &Address| loaded.as_ref().is_some_and(|a| stored.distance(a).is_some());
        if may_meet.iter().any(|(_, stored)| stored.as_ref().is_some_and(is_near)) {
            continue;
        }
        found.all.push(load);
        // What an iteration stores first it may load then.
        if !may_meet.iter().all(|(s, _)| l.comes_before(func, load, *s)) {
            found.unsure.push(load);
        }
    }
    found
}

/// What of a loop its test, checks that may end the program, and the addresses of its accesses are computed from.
fn needed(func: &Function, l: &Loop) -> EntitySet<Value> {
    let mut needed = EntitySet::new();
    let mut work = vec![func.insts[l.test].args[0]];
    let own = || func.layout.iter().copied().filter(|&b| l.blocks.contains(b));
    let checks = own().filter(|&b| func.successors(b).any(|to| l.dead.contains(to)));
    work.extend(checks.flat_map(|b| func.insts[func.terminator(b)].args.iter().copied()));
    work.extend(own().flat_map(|b| func.block_insts(b)).filter_map(|i| func.accessed(i)).map(|a| a.address));
    while let Some(v) = work.pop() {
        let Some(i) = func.def_inst(v).filter(|&i| l.blocks.contains(func.insts[i].block)) else { continue };
        if !needed.insert(v) {
            continue;
        }
        work.extend(func.insts[i].args.iter().copied());
        if let Some(position) = func.phi_position(i).filter(|_| func.insts[i].op == Op::Phi) {
            let block = func.insts[i].block;
            work.extend(func.blocks[block].preds.iter().map(|&e| func.edges[e].args[position]));
        }
    }
    needed
}

/// Copies the loop, and puts a branch before both: the block that leads to the copy, and the branch.
fn copy(func: &mut Function, l: &Loop) -> (Block, Inst) {
    let region: Vec<Block> = func.layout.iter().copied().filter(|&b| l.blocks.contains(b)).collect();
    let entering = func.out_edges(l.preheader)[0];
    let starts = func.edges[entering].args.clone();
    let twice = Twice::make(func, &region);
    let own = func.split_edge(entering, "");
    let otherwise = func.add_block("");
    func.set_terminator(otherwise, Op::Br, &[], &[twice.copy(l.header)]);
    let into = func.out_edges(otherwise)[0];
    func.edges[into].args = starts;
    let holds = func.bool_const(true);
    let branch = func.set_terminator(l.preheader, Op::CondBr, &[holds], &[own, otherwise]);
    twice.join(func);
    (otherwise, branch)
}
