//! Values that are carried from iteration to iteration beside memory that has the same.
//!
//! ```c
//! for (int i = 0; i < n; i++) if (x[i] > most) most = x[i];      // `most` is a variable in memory
//! ```
//!
//! LLVM loads `most` once before the loop, or knows what was stored there, and keeps in a φ what it would load, but
//! leaves the stores where they are. So each iteration hands on a value that the vectorizer has no name for, and stores
//! it. Loaded where it is needed, it is a [record](crate::dependences), or an update of memory, which lanes make
//! together.

use std::collections::HashSet;

use warpline_dataflow::linear::same_address;
use warpline_ir::{Block, Edge, Effects, Function, Inst, InstFlags, Module, Op, Value};

use super::find::Loop;
use super::invariant::Accesses;
use super::selections::incoming;
use crate::dependences::{Apart, lie_side_by_side, stretch_of};
use crate::known_calls::is_annotation;
use crate::unused;

/// So many blocks are looked through from the load before the loop to the loop.
const MAX_BLOCKS: usize = 8;

/// A φ of a loop's header that always is what memory has.
struct Mirror {
    phi: Inst,
    /// The load or store before the loop.
    first: Inst,
    /// The φs behind branches by which it gets its next value.
    joins: Vec<Inst>,
    /// Where the value is needed.
    user: Inst,
}

/// Loads such values from memory instead.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) {
    if l.is_endless || !l.breaks.is_empty() {
        return;
    }
    let Some(accesses) = Accesses::of(module, func, l) else { return };
    let phis = func.blocks[l.header].phis.clone();
    let found: Vec<Mirror> =
        phis.into_iter().filter_map(|phi| Mirror::of(module, func, l, &accesses, phi)).collect();
    if found.is_empty() {
        return;
    }
    for mirror in &found {
        let value = func.insts[mirror.phi].results[0];
        let Some(first) = func.accessed(mirror.first) else { continue };
        let (op, origin) = (Op::Load(first.access), func.insts[mirror.first].origin);
        let (ty, none) = (func.ty(value), InstFlags::empty());
        let loaded = func.insert_value_before(mirror.user, op, &[first.address], ty, none);
        let load = func.def_inst(loaded).expect("it has just been made");
        func.insts[load].origin = origin;
        func.map_operands(|v| if v == value { loaded } else { v });
    }
    let joins: HashSet<Inst> = found.iter().flat_map(|m| m.joins.iter().copied()).collect();
    for block in joins.iter().map(|&i| func.insts[i].block).collect::<HashSet<Block>>() {
        func.retain_phis(block, |phi| !joins.contains(&phi));
    }
    func.retain_phis(l.header, |phi| !found.iter().any(|m| m.phi == phi));
    unused::remove(module, func, &[]);
}

impl Mirror {
    fn of(module: &Module, func: &Function, l: &Loop, accesses: &Accesses, phi: Inst) -> Option<Mirror> {
        let value = func.insts[phi].results[0];
        let position = func.phi_position(phi)?;
        let entering = func.edges[func.out_edges(l.preheader)[0]].args[position];
        let stores =
            accesses.stores.iter().filter_map(|&i| func.accessed(i)).filter(|a| a.ty == func.ty(value));
        let mut addresses: Vec<Value> =
            stores.map(|a| a.address).filter(|&a| l.is_invariant(func, a)).collect();
        addresses.dedup();
        addresses
            .into_iter()
            .find_map(|address| Mirror::at(module, func, l, accesses, (phi, entering), address))
    }

    /// The same of what memory has at an address.
    fn at(
        module: &Module,
        func: &Function,
        l: &Loop,
        accesses: &Accesses,
        (phi, entering): (Inst, Value),
        address: Value,
    ) -> Option<Mirror> {
        let (value, position) = (func.insts[phi].results[0], func.phi_position(phi)?);
        let ty = func.ty(value);
        let is_there = |i: Inst| {
            func.accessed(i).is_some_and(|a| {
                a.ty == ty && a.access.is_simple() && same_address(module, func, a.address, address)
            })
        };
        let (own, others): (Vec<Inst>, Vec<Inst>) =
            accesses.stores.iter().copied().partition(|&i| is_there(i));
        let apart = Apart::new(module, func, None);
        let gives = |i: Inst| match func.insts[i].op {
            Op::Load(_) => func.insts[i].result() == Some(entering),
            Op::Store(_) => func.insts[i].args[0] == entering,
            _ => false,
        };
        let first = last_before(module, func, l.preheader, &apart, |i| is_there(i) && gives(i), is_there)?;
        // Another field of a structure is elsewhere as well: the address is the same in all iterations.
        let stretch = |i: Inst| stretch_of(module, func, i);
        let is_beside =
            |i: Inst| stretch(i).zip(stretch(first)).is_some_and(|(a, b)| lie_side_by_side(&a, &b));
        if !others.iter().all(|&i| apart.never_meet(i, first) || is_beside(i)) {
            return None;
        }
        let next = func.edges[l.back].args[position];
        let mut ways = Ways { func, l, value, own: &own, joins: Vec::new(), stored: Vec::new() };
        ways.follow(next)?;
        let Ways { joins, stored, .. } = ways;
        // Each store is on one of the ways, and the only one there.
        if stored.len() != own.len() {
            return None;
        }
        let user = only_user(func, l, value, &joins, position)?;
        let is_first = stored.iter().all(|&store| l.comes_before(func, user, store));
        (l.own.contains(func.insts[user].block) && is_first).then_some(Mirror { phi, first, joins, user })
    }
}

/// The last access before the end of a block, to which one way leads from there, that is one looked for, if nothing
/// behind it may write where it accesses memory: all others that may be elsewhere must never meet it.
fn last_before(
    module: &Module,
    func: &Function,
    end: Block,
    apart: &Apart<'_>,
    is_wanted: impl Fn(Inst) -> bool,
    is_there: impl Fn(Inst) -> bool,
) -> Option<Inst> {
    let (mut block, mut passed) = (end, Vec::new());
    for _ in 0..MAX_BLOCKS {
        for &i in func.blocks[block].insts.iter().rev() {
            if is_wanted(i) {
                let misses = |&w: &Inst| func.accessed(w).is_some() && apart.never_meet(w, i);
                return passed.iter().all(misses).then_some(i);
            }
            let data = &func.insts[i];
            if data.effects().contains(Effects::WRITES) && !is_annotation(module, data) {
                if is_there(i) {
                    return None;
                }
                passed.push(i);
            }
        }
        let &[only] = &func.blocks[block].preds[..] else { return None };
        block = func.edges[only].from;
    }
    None
}

/// The ways by which a φ gets its next value: it keeps it, or gets what has just been stored.
struct Ways<'a> {
    func: &'a Function,
    l: &'a Loop,
    value: Value,
    own: &'a [Inst],
    joins: Vec<Inst>,
    stored: Vec<Inst>,
}

impl Ways<'_> {
    fn follow(&mut self, next: Value) -> Option<()> {
        let func = self.func;
        let join = func.def_inst(next).filter(|&i| func.insts[i].op == Op::Phi);
        let inside = join.filter(|&i| {
            let block = func.insts[i].block;
            block != self.l.header && self.l.own.contains(block)
        });
        let Some(join) = inside else {
            // Stored in every iteration.
            let store = self.own.iter().copied().find(|&i| func.insts[i].args[0] == next)?;
            let block = func.insts[store].block;
            return self.l.is_always(func, block).then(|| self.stored.push(store));
        };
        self.joins.push(join);
        for (edge, value) in incoming(func, join).collect::<Vec<_>>() {
            self.arrive(edge, value)?;
        }
        Some(())
    }

    fn arrive(&mut self, edge: Edge, value: Value) -> Option<()> {
        let func = self.func;
        let from = func.edges[edge].from;
        let here = |i: &Inst| func.insts[*i].block == from;
        match self.own.iter().copied().filter(here).collect::<Vec<_>>()[..] {
            [] if value == self.value || self.joins.iter().any(|&j| func.insts[j].results[0] == value) => {
                Some(())
            }
            [] => self.follow_join(value),
            [store] if func.insts[store].args[0] == value && func.out_edges(from).len() == 1 => {
                self.stored.push(store);
                Some(())
            }
            _ => None,
        }
    }

    /// Follows a value that must be that of a join before.
    fn follow_join(&mut self, value: Value) -> Option<()> {
        let is_join = self.func.def_inst(value).is_some_and(|i| self.func.insts[i].op == Op::Phi);
        is_join.then(|| self.follow(value))?
    }
}

/// The only instruction that needs a value besides the φs by which it is handed on, if these serve nothing else.
fn only_user(func: &Function, l: &Loop, value: Value, joins: &[Inst], position: usize) -> Option<Inst> {
    let is_join = |v: Value| joins.iter().any(|&j| func.insts[j].results[0] == v);
    let mut user = None;
    for &b in &func.layout {
        for i in func.block_insts(b) {
            let data = &func.insts[i];
            if data.args.iter().any(|&a| is_join(a)) {
                return None;
            }
            if data.args.contains(&value) && user.replace(i).is_some() {
                return None;
            }
        }
        for &e in func.out_edges(b) {
            let to = func.edges[e].to;
            for (k, &arg) in func.edges[e].args.iter().enumerate() {
                let handed_on = e == l.back && k == position
                    || func.blocks[to].phis.get(k).is_some_and(|phi| joins.contains(phi));
                if (arg == value || is_join(arg)) && !handed_on {
                    return None;
                }
            }
        }
    }
    user.filter(|&i| l.blocks.contains(func.insts[i].block))
}
