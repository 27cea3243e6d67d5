//! Loads that give the same in every iteration are made before the loop.
//!
//! In `for (int i = 0; i < s->n; i++) s->y[i] = 2 * s->x[i];` every iteration loads the pointers anew, since they may
//! change for all that the code says. Where neither the objects nor the types of what the loop stores
//! (`dependences::Apart`) allow that, they are loaded once: those that are loaded before the test of the first
//! iteration before the loop, the others there too, but only if that test lets an iteration begin.

use std::collections::HashMap;

use warpline_analysis::DfsOrder;
use warpline_ir::{Block, Effects, Function, Inst, Module, Op, Type, Value, ValueDef};

use super::find::{Loop, dominates};
use crate::dependences::{Apart, is_silent};
use crate::if_conversion::is_pure;
use crate::known_calls::is_annotation;

/// How deep what an address or a test is computed from is followed.
const MAX_DEPTH: u32 = 16;

/// Makes such loads before the loop. Whether there were any; then the loop has another preheader.
pub(super) fn hoist_loads(module: &Module, func: &mut Function, l: &Loop) -> bool {
    let Some(found) = find(module, func, l) else { return false };
    let mut hoist = Hoist { module, func, l, made: HashMap::new() };
    let (early, late): (Vec<Inst>, Vec<Inst>) = found.into_iter().partition(|&i| hoist.is_early(i));
    let mut replaced: Vec<(Inst, Value)> = early.iter().filter_map(|&i| hoist.load(l.preheader, i)).collect();
    replaced.extend(hoist.load_if_it_begins(&late));
    for &(load, new) in &replaced {
        let old = hoist.func.insts[load].results[0];
        hoist.func.map_operands(|v| if v == old { new } else { v });
        let block = hoist.func.insts[load].block;
        hoist.func.blocks[block].insts.retain(|&i| i != load);
    }
    !replaced.is_empty()
}

/// Loads of a loop that no store of it can change, in an order in which one comes before another that needs it;
/// `None` if the loop does more to memory than to load and store.
fn find(module: &Module, func: &Function, l: &Loop) -> Option<Vec<Inst>> {
    let (mut loads, mut stores) = (Vec::new(), Vec::new());
    let order = DfsOrder::compute(&func.graph().0);
    for b in order.reverse_post_order().map(Block::from).filter(|&b| l.blocks.contains(b)) {
        for i in func.block_insts(b) {
            let data = &func.insts[i];
            match &data.op {
                Op::Load(access) if access.is_simple() => loads.push(i),
                Op::Store(access) if access.is_simple() => stores.push(i),
                _ if is_annotation(module, data) || is_silent(module, func, i) => {}
                _ if data.effects().intersects(Effects::READS | Effects::WRITES | Effects::CONVERGENT) => {
                    return None;
                }
                _ => {}
            }
        }
    }
    // Where an iteration may end the program or the loop, what stands behind must not be executed before.
    let ends: Vec<Block> = func.layout.iter().copied().filter(|&b| l.blocks.contains(b)).collect();
    let breaks = |b: Block| l.breaks.iter().any(|at| func.insts[at.branch].block == b);
    let ends: Vec<Block> =
        ends.into_iter().filter(|&b| breaks(b) || func.successors(b).any(|to| l.dead.contains(to))).collect();
    loads.retain(|&i| {
        let block = func.insts[i].block;
        (l.is_always(func, block) || is_before_test(func, l, i))
            && ends.iter().all(|&end| dominates(&l.dominators, block, end))
    });
    let apart = Apart::new(module, func, None);
    loads.retain(|&load| stores.iter().all(|&store| apart.never_meet(store, load)));
    (!loads.is_empty()).then_some(loads)
}

/// Whether an instruction is executed whenever the loop is entered: before the test that ends it.
fn is_before_test(func: &Function, l: &Loop, i: Inst) -> bool {
    l.own.contains(func.insts[i].block)
        && dominates(&l.dominators, func.insts[i].block, func.insts[l.test].block)
}

struct Hoist<'a> {
    module: &'a Module,
    func: &'a mut Function,
    l: &'a Loop,
    /// What was made before the loop: of a value there, the one that stands for it.
    made: HashMap<(Block, Value), Value>,
}

impl Hoist<'_> {
    fn is_early(&self, i: Inst) -> bool {
        is_before_test(self.func, self.l, i)
    }

    /// Makes a load at the end of a block before the loop, if its address is the same in all iterations: the load,
    /// and what it gives.
    fn load(&mut self, at: Block, load: Inst) -> Option<(Inst, Value)> {
        let address = self.before(at, self.func.insts[load].args[0], false, MAX_DEPTH)?;
        let value = self.copy(at, load, &[address]);
        self.made.insert((at, self.func.insts[load].results[0]), value);
        Some((load, value))
    }

    /// Makes loads on a way to the loop that is taken if its first iteration passes the test.
    fn load_if_it_begins(&mut self, loads: &[Inst]) -> Vec<(Inst, Value)> {
        let ready = |hoist: &mut Self, &load: &Inst| {
            let address = hoist.func.insts[load].args[0];
            hoist.is_invariant(address, loads, MAX_DEPTH)
        };
        let loads: Vec<Inst> = loads.iter().filter(|&i| ready(self, i)).copied().collect();
        let condition = self.func.insts[self.l.test].args[0];
        if loads.is_empty() || !self.is_known_first(condition, MAX_DEPTH) {
            return Vec::new();
        }
        let preheader = self.l.preheader;
        let Some(first) = self.before(preheader, condition, true, MAX_DEPTH) else { return Vec::new() };
        let entering = self.func.out_edges(preheader)[0];
        let join = self.func.split_edge(entering, "");
        let way = self.func.add_block("");
        self.func.layout.retain(|&b| b != way);
        self.func.insert_before(join, way);
        self.func.set_terminator(way, Op::Br, &[], &[join]);
        let (yes, no) = if self.l.stays_if { (way, join) } else { (join, way) };
        self.func.set_terminator(preheader, Op::CondBr, &[first], &[yes, no]);
        let made: Vec<(Inst, Value)> = loads.iter().filter_map(|&i| self.load(way, i)).collect();
        let mut replaced = Vec::new();
        for (load, value) in made {
            let phi = self.func.add_phi(join, self.func.ty(value));
            let position = self.func.blocks[join].phis.len() - 1;
            let edge = self.func.out_edges(way)[0];
            self.func.set_phi_arg(edge, position, value);
            replaced.push((load, phi));
        }
        replaced
    }

    /// Whether a value is the same in all iterations, if these loads give the same.
    fn is_invariant(&self, v: Value, loads: &[Inst], depth: u32) -> bool {
        let Some(i) = self.inside(v) else { return true };
        if self.made.contains_key(&(self.l.preheader, v)) {
            return true;
        }
        depth > 0
            && (loads.contains(&i) || self.is_repeatable(i))
            && self.func.insts[i].args.iter().all(|&a| self.is_invariant(a, loads, depth - 1))
    }

    /// Whether what a value is in the first iteration can be computed before the loop.
    fn is_known_first(&self, v: Value, depth: u32) -> bool {
        let Some(i) = self.inside(v) else { return true };
        let header = self.func.insts[i].block == self.l.header && self.func.insts[i].op == Op::Phi;
        header
            || self.made.contains_key(&(self.l.preheader, v))
            || depth > 0
                && self.is_repeatable(i)
                && self.func.insts[i].args.iter().all(|&a| self.is_known_first(a, depth - 1))
    }

    /// A value of the loop as it is before it, computed at the end of a block there; in the `first` iteration, if it
    /// may differ in others.
    fn before(&mut self, at: Block, v: Value, first: bool, depth: u32) -> Option<Value> {
        let Some(i) = self.inside(v) else { return Some(v) };
        let preheader = self.l.preheader;
        if let Some(&known) = self.made.get(&(at, v)).or_else(|| self.made.get(&(preheader, v))) {
            return Some(known);
        }
        if first && self.func.insts[i].op == Op::Phi && self.func.insts[i].block == self.l.header {
            let position = self.func.phi_position(i)?;
            let entering = self.func.out_edges(preheader)[0];
            return Some(self.func.edges[entering].args[position]);
        }
        if depth == 0 || !self.is_repeatable(i) {
            return None;
        }
        let args: Vec<Value> = self.func.insts[i].args.to_vec();
        let args: Option<Vec<Value>> =
            args.into_iter().map(|a| self.before(at, a, first, depth - 1)).collect();
        let value = self.copy(at, i, &args?);
        // What is computed for the first iteration stands for nothing else.
        if !first {
            self.made.insert((at, v), value);
        }
        Some(value)
    }

    /// The instruction of the loop that makes a value.
    fn inside(&self, v: Value) -> Option<Inst> {
        match self.func.values[v].def {
            ValueDef::Inst(i, _) if self.l.blocks.contains(self.func.insts[i].block) => Some(i),
            _ => None,
        }
    }

    /// Whether an instruction gives the same for the same operands, wherever it stands.
    fn is_repeatable(&self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        data.op != Op::Freeze && data.results.len() == 1 && is_pure(self.module, self.func, i)
    }

    fn copy(&mut self, at: Block, i: Inst, args: &[Value]) -> Value {
        let ty: Type = self.func.ty(self.func.insts[i].results[0]);
        let op = self.func.insts[i].op.clone();
        let new = self.func.append(at, op, args, ty);
        let data = &self.func.insts[i];
        let (flags, loc, origin) = (data.flags, data.loc, data.origin);
        let copy = &mut self.func.insts[new];
        (copy.flags, copy.loc, copy.origin) = (flags, loc, origin);
        copy.results[0]
    }
}
