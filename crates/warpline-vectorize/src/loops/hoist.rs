//! What is computed before it is needed, and loaded before it is overwritten: instructions that move up in their block.
//!
//! * In `out[i] = sum; sum += a[i];` an iteration stores what the one before has passed on before it reads what it
//!   adds itself. Lanes pass it on all at once, so `a[i]` must be read first. What a value is computed from moves up
//!   to the first use of what was passed on ([`hoist`]).
//! * In `a[i] = x; b[i] = a[i + 1];` an iteration loads what the next one stores. Lanes store all at once, so that
//!   they must load before; the load moves up to the store ([`hoist_loads_ahead`]).
//!
//! Nothing moves past what writes what it reads. Where only the pointers say whether it does, what moves up is checked
//! before the loop.

use std::cell::RefCell;

use cranelift_entity::EntitySet;

use super::carried::{Carried, Kind};
use super::find::Loop;
use super::safe_divisors::divides_safely;
use crate::dependences::{Apart, Growth};
use warpline_dataflow::linear::Address;
use warpline_ir::{Block, Effects, Function, Inst, Module, Op, Value};

/// Moves what `value` is computed from up in its block, to before the first use there of `needed`. `source` is the
/// function that the body was taken from, with instructions under the same numbers. Nothing happens if that would
/// change what the block does. Loads also move past stores of which only the pointers say whether they go there; those
/// pairs are returned, which must be checked to be apart in each iteration.
pub(super) fn hoist(
    module: &Module,
    source: &Function,
    body: &mut Function,
    value: Value,
    needed: Value,
) -> Vec<(Inst, Inst)> {
    let Some(block) = body.def_block(value) else { return Vec::new() };
    let insts = body.blocks[block].insts.clone();
    let Some(first) = insts.iter().position(|&i| body.insts[i].args.contains(&needed)) else {
        return Vec::new();
    };
    let apart = Apart::new(module, source, None);
    let assumed = RefCell::new(Vec::new());
    let may_pass = |p, i| {
        let swaps = may_swap(module, source, body, &apart, p, i);
        let checked = !swaps && distance_is_open(module, source, p, i);
        if checked {
            assumed.borrow_mut().push((p, i));
        }
        swaps || checked
    };
    let Some(order) = moved_up(body, block, &insts, first, value, &may_pass) else { return Vec::new() };
    body.blocks[block].insts = order;
    assumed.into_inner()
}

/// Whether a load stands behind a store through another pointer, so that whether they touch the same memory is known
/// when the code runs.
pub(super) fn distance_is_open(module: &Module, source: &Function, store: Inst, load: Inst) -> bool {
    let (Some(stored), Some(loaded)) = (source.accessed(store), source.accessed(load)) else { return false };
    let simple = stored.writes && !loaded.writes && stored.access.is_simple() && loaded.access.is_simple();
    let [a, b] = [stored, loaded].map(|x| Address::of(module, source, x.address));
    // From one pointer, they hardly lead apart.
    simple && a.zip(b).is_some_and(|(a, b)| a.root != b.root)
}

/// The instructions of a block with those that a value is computed from before the one at a position, if all of them
/// may pass what they then do.
fn moved_up(
    body: &Function,
    block: Block,
    insts: &[Inst],
    first: usize,
    value: Value,
    may_pass: &dyn Fn(Inst, Inst) -> bool,
) -> Option<Vec<Inst>> {
    let moving = slice(body, block, &insts[first..], value);
    let mut passed: Vec<Inst> = Vec::new();
    for &i in &insts[first..] {
        if !moving.contains(i) {
            passed.push(i);
        } else if !passed.iter().all(|&p| may_pass(p, i)) {
            return None;
        }
    }
    let (up, rest): (Vec<Inst>, Vec<Inst>) = insts[first..].iter().partition(|&&i| moving.contains(i));
    Some(insts[..first].iter().copied().chain(up).chain(rest).collect())
}

/// So many instructions of a block are looked at for loads that are to move up.
const MAX_INSTS: usize = 2_000;

/// Moves loads of what a later iteration stores up in their blocks, to before that store.
pub(super) fn hoist_loads_ahead(module: &Module, func: &mut Function, l: &Loop, carried: &[Carried]) {
    let apart = Apart::new(module, func, None);
    let ahead = Ahead { module, func, l, carried };
    let blocks: Vec<Block> = func.layout.iter().copied().filter(|&b| l.blocks.contains(b)).collect();
    let mut orders = Vec::new();
    for block in blocks {
        let mut insts = func.blocks[block].insts.clone();
        if insts.len() > MAX_INSTS {
            continue;
        }
        let mut stores: Vec<Moving> = Vec::new();
        let mut loads = Vec::new();
        for &i in &insts {
            let Some(place) = ahead.place(i) else { continue };
            match place.writes {
                true => stores.push(place),
                false if stores.iter().any(|s| s.relation(&place) == Some(true)) => loads.push(place),
                false => {}
            }
        }
        let is_changed = !loads.is_empty();
        for load in &loads {
            let above = |i: &Inst| stores.iter().any(|s| s.inst == *i && s.relation(load) == Some(true));
            let Some(first) = insts.iter().position(above) else { continue };
            // What an earlier iteration stores is still to be loaded behind it.
            let keeps = |p: Inst| stores.iter().all(|s| s.inst != p || s.relation(load) != Some(false));
            let may_pass =
                |p: Inst, i: Inst| may_swap(module, func, func, &apart, p, i) && (i != load.inst || keeps(p));
            let value = func.insts[load.inst].results[0];
            insts = moved_up(func, block, &insts, first, value, &may_pass).unwrap_or(insts);
        }
        if is_changed {
            orders.push((block, insts));
        }
    }
    for (block, insts) in orders {
        func.blocks[block].insts = insts;
    }
}

/// What places in a loop are found by.
struct Ahead<'a> {
    module: &'a Module,
    func: &'a Function,
    l: &'a Loop,
    carried: &'a [Carried],
}

/// A load or store at an address that moves by the same step in each iteration.
struct Moving {
    inst: Inst,
    address: Address,
    step: i128,
    writes: bool,
}

impl Moving {
    /// Whether a later iteration stores here what the load reads, or an earlier one; `None` if neither, or if it is
    /// not known.
    fn relation(&self, load: &Moving) -> Option<bool> {
        let distance = self.address.distance(&load.address).filter(|&d| d != 0 && self.step != 0)?;
        Some((distance > 0) == (self.step > 0))
    }
}

impl Ahead<'_> {
    fn place(&self, inst: Inst) -> Option<Moving> {
        let accessed = self.func.accessed(inst).filter(|a| a.access.is_simple())?;
        let address = Address::of(self.module, self.func, accessed.address)?;
        let mut step = self.growth(address.root)?;
        for t in &address.terms {
            step = step.checked_add(self.growth(t.value)?.checked_mul(t.scale.into())?)?;
        }
        Some(Moving { inst, address, step, writes: accessed.writes })
    }

    /// What a value grows by in each iteration.
    fn growth(&self, v: Value) -> Option<i128> {
        let inside = self.func.def_block(v).is_some_and(|b| self.l.blocks.contains(b));
        if !inside {
            return Some(0);
        }
        match self.carried.iter().find(|c| c.phi == v)?.kind {
            Kind::Induction { step: Growth::Constant(by), .. } => Some(by),
            _ => None,
        }
    }
}

/// Those of the instructions of a block that a value is computed from.
fn slice(body: &Function, block: Block, insts: &[Inst], value: Value) -> EntitySet<Inst> {
    let mut needed: EntitySet<Inst> = EntitySet::new();
    let mut work = vec![value];
    while let Some(v) = work.pop() {
        let inst = body.def_inst(v).filter(|&i| body.insts[i].block == block && insts.contains(&i));
        if let Some(i) = inst.filter(|&i| needed.insert(i)) {
            work.extend(body.insts[i].args.iter().copied());
        }
    }
    needed
}

/// Whether an instruction may be executed before one that stands in front of it and does not compute what it needs.
fn may_swap(
    module: &Module,
    source: &Function,
    body: &Function,
    apart: &Apart<'_>,
    front: Inst,
    inst: Inst,
) -> bool {
    let (before, effects) = (body.insts[front].effects(), body.insts[inst].effects());
    let harmless = |e: Effects| e.difference(Effects::CONVERGENT).is_empty();
    let loads = matches!(&body.insts[inst].op, Op::Load(access) if access.is_simple());
    match (&body.insts[front].op, loads) {
        // What traps would do so either way, in this iteration.
        (_, false) => harmless(effects) || divides_safely(body, inst),
        (Op::Store(access), true) if access.is_simple() => !may_meet(module, source, apart, front, inst),
        (_, true) => harmless(before.difference(Effects::READS | Effects::TRAPS)),
    }
}

/// Whether a store and a load may access the same memory.
pub(super) fn may_meet(
    module: &Module,
    source: &Function,
    apart: &Apart<'_>,
    store: Inst,
    load: Inst,
) -> bool {
    let (Some(stored), Some(loaded)) = (source.accessed(store), source.accessed(load)) else { return true };
    let size = |ty| module.layout.store_size(&module.types, ty).and_then(|s| i64::try_from(s).ok());
    let addresses =
        (Address::of(module, source, stored.address), Address::of(module, source, loaded.address));
    if let (Some(a), Some(b), Some(of_a), Some(of_b)) =
        (addresses.0, addresses.1, size(stored.ty), size(loaded.ty))
        && let Some(distance) = a.distance(&b)
    {
        return distance < of_a && -distance < of_b;
    }
    !apart.never_meet(store, load)
}
