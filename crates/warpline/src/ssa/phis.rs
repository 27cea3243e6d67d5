//! φs that can go.

use cranelift_entity::{EntitySet, SecondaryMap};

use super::Replacements;
use crate::ir::{Block, Function, Inst, Op, Value};

/// All φs of the layout with their positions in their blocks.
fn all_phis(func: &Function) -> Vec<(Block, Inst, usize)> {
    let blocks = func.layout.iter();
    blocks.flat_map(|&b| func.blocks[b].phis.iter().enumerate().map(move |(k, &p)| (b, p, k))).collect()
}

/// Takes φs out of their blocks, with their operands.
fn remove(func: &mut Function, dead: &EntitySet<Inst>) {
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        func.retain_phis(b, |p| !dead.contains(p));
    }
}

/// Removes φs that no instruction and no mask needs: those that are used by nothing, or by such φs alone. Returns
/// how many there were. Time is linear in the function's size.
pub fn remove_dead_phis(func: &mut Function) -> usize {
    let mut needed: EntitySet<Value> = EntitySet::with_capacity(func.values.len());
    let mut work: Vec<Value> = Vec::new();
    for &b in &func.layout {
        let masks = func.blocks[b].mask.expand();
        let args = func.block_insts(b).flat_map(|i| func.insts[i].args.iter().copied());
        work.extend(args.chain(masks).filter(|&v| needed.insert(v)));
    }
    let phis = all_phis(func);
    let mut position: SecondaryMap<Inst, usize> = SecondaryMap::new();
    for &(_, p, k) in &phis {
        position[p] = k;
    }
    while let Some(v) = work.pop() {
        let Some(p) = func.def_inst(v).filter(|&p| func.insts[p].op == Op::Phi) else { continue };
        let preds = func.blocks[func.insts[p].block].preds.iter();
        work.extend(preds.map(|&e| func.edges[e].args[position[p]]).filter(|&a| needed.insert(a)));
    }
    let mut dead: EntitySet<Inst> = EntitySet::new();
    for &(_, p, _) in &phis {
        if !needed.contains(func.insts[p].results[0]) {
            dead.insert(p);
        }
    }
    remove(func, &dead);
    phis.iter().filter(|phi| dead.contains(phi.1)).count()
}

/// Replaces φs all of whose operands are one value, or the φ itself, by that value; also those that become so by
/// other replacements. Returns how many there were.
///
/// The value dominates the φ: it dominates the beginning of every in-edge that does not carry the φ itself, and
/// these are the ways by which the block is first entered. `poison` counts as a value of its own, so
/// strictness is kept. Circles of φs that stand for one value only together (which a reducible graph does not make)
/// stay. Time is nearly linear in the number of φ operands.
pub fn remove_trivial_phis(func: &mut Function) -> usize {
    let phis = all_phis(func);
    let mut position: SecondaryMap<Inst, usize> = SecondaryMap::new();
    let mut users: SecondaryMap<Value, Vec<Inst>> = SecondaryMap::new();
    for &(b, p, k) in &phis {
        position[p] = k;
        for &e in &func.blocks[b].preds {
            users[func.edges[e].args[k]].push(p);
        }
    }
    let mut replaced = Replacements::default();
    let mut dead: EntitySet<Inst> = EntitySet::new();
    let mut work: Vec<Inst> = phis.iter().rev().map(|phi| phi.1).collect();
    while let Some(p) = work.pop() {
        if dead.contains(p) {
            continue;
        }
        let result = func.insts[p].results[0];
        let mut only = None;
        let mut trivial = true;
        for &e in &func.blocks[func.insts[p].block].preds {
            let v = replaced.find(func.edges[e].args[position[p]]);
            trivial &= v == result || *only.get_or_insert(v) == v;
        }
        let Some(v) = only.filter(|_| trivial) else { continue };
        replaced.set(result, v);
        dead.insert(p);
        let affected = std::mem::take(&mut users[result]);
        work.extend(affected.iter().rev());
        users[v].extend(affected);
    }
    replaced.apply(func);
    remove(func, &dead);
    phis.iter().filter(|phi| dead.contains(phi.1)).count()
}
