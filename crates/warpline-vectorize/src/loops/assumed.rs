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
//! is the loop as it was.

use cranelift_entity::EntitySet;
use warpline_dataflow::linear::Address;
use warpline_dataflow::ssa;
use warpline_ir::{Block, Function, Inst, Module, Op, Value};

use super::find::Loop;
use super::invariant::{self, Accesses, Hoisted, Loads};
use super::kept_loads::before;
use super::peel;
use crate::VectorizeError;
use crate::copies::{Blocks, Values, copy_blocks, join, uses_elsewhere};
use crate::dependences::{Apart, Held};

/// So many instructions are copied at most.
const MAX_INSTS: usize = 1_000;

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

    /// The error if it cannot be checked in this loop.
    pub(super) fn refuse(&self, func: &Function, l: &Loop) -> VectorizeError {
        let reason = "iterations may store to what others load that says how many there are, or where they load and \
                      store: load that before the loop";
        VectorizeError::at_inst(func, l.test, reason)
    }
}

/// Loads before the loop what it needs to know, if it may be overwritten but hardly is. The function and the loop then.
pub(super) fn assume(
    module: &Module,
    func: &Function,
    l: &Loop,
) -> Result<Option<(Function, Loop, Assumed)>, VectorizeError> {
    let loads = find(module, func, l);
    if loads.all.is_empty() || peel::size(func, l) > MAX_INSTS {
        return Ok(None);
    }
    let mut twice = func.clone();
    let (otherwise, branch) = copy(&mut twice, l);
    let l = l.found_again(&mut twice)?;
    let Hoisted { held, passed } = invariant::hoist(module, &mut twice, &l, loads);
    if held.is_empty() {
        return Ok(None);
    }
    let l = l.found_again(&mut twice)?;
    invariant::hoist_bounds(module, &mut twice, &l);
    Ok(Some((twice, l, Assumed { otherwise, branch, held, passed })))
}

/// Loads that the number of iterations or an address is computed from, and that no store certainly changes.
fn find(module: &Module, func: &Function, l: &Loop) -> Loads {
    let mut found = Loads { all: Vec::new(), unsure: Vec::new(), may_pass: true };
    let Some(Accesses { loads, stores }) = Accesses::of(module, func, l) else { return found };
    if loads.is_empty() || stores.is_empty() {
        return found;
    }
    let needed = needed(func, l);
    let apart = Apart::new(module, func, None);
    for load in loads.into_iter().filter(|&i| needed.contains(func.insts[i].results[0])) {
        let mut may_meet = stores.iter().copied().filter(|&s| !apart.never_meet(s, load));
        if may_meet.clone().any(|s| is_at_one_place(module, func, s, load)) {
            continue;
        }
        found.all.push(load);
        // What an iteration stores first it may load then.
        if !may_meet.all(|s| before(func, l, load, s)) {
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

/// Whether a store and a load are at a known distance, so that they are of one object at least.
fn is_at_one_place(module: &Module, func: &Function, store: Inst, load: Inst) -> bool {
    let address = |i: Inst| func.accessed(i).and_then(|a| Address::of(module, func, a.address));
    let (Some(stored), Some(loaded)) = (address(store), address(load)) else { return false };
    stored.distance(&loaded).is_some()
}

/// Copies the loop, and puts a branch before both: the block that leads to the copy, and the branch.
fn copy(func: &mut Function, l: &Loop) -> (Block, Inst) {
    let region: Vec<Block> = func.layout.iter().copied().filter(|&b| l.blocks.contains(b)).collect();
    let (mut copies, mut values, mut vars) = (Blocks::new(), Values::new(), Vec::new());
    let mut uses = uses_elsewhere(func, &region);
    let entering = func.out_edges(l.preheader)[0];
    let starts = func.edges[entering].args.clone();
    copy_blocks(func, &region, &mut copies, &mut values);
    let own = func.split_edge(entering, "");
    let otherwise = func.add_block("");
    let header = copies[l.header].expect("the loop is copied");
    func.set_terminator(otherwise, Op::Br, &[], &[header]);
    let into = func.out_edges(otherwise)[0];
    func.edges[into].args = starts;
    let holds = func.bool_const(true);
    let branch = func.set_terminator(l.preheader, Op::CondBr, &[holds], &[own, otherwise]);
    join(func, &mut uses, &values, &mut vars);
    ssa::construct_vars(func, &vars);
    (otherwise, branch)
}
