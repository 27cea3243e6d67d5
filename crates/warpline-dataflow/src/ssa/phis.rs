//! φs that can go.

use cranelift_entity::{EntitySet, SecondaryMap};
use warpline_analysis::{CsrGraph, DomTree, Node};

use super::Replacements;
use warpline_ir::{Block, Function, Inst, Op, Value};

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
/// stay; [`remove_redundant_phis`] takes them too. Time is nearly linear in the number of φ operands.
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

/// Replaces every φ that stands for one value, alone or together with others in a circle, by that value. Returns how
/// many there were.
///
/// A φ stands for the value through which everything flows into it: the topmost node below the root that dominates it
/// in the graph that leads from a root to all that is no φ, and from operands to φs. So one dominator tree finds all
/// of them, circles on irreducible graphs included, where Braun et al. (*Simple and efficient construction of static
/// single assignment form*, 2013, Algorithm 5) look for strongly connected components again and again. As in
/// [`remove_trivial_phis`], `poison` is a value of its own. Time is nearly linear in the number of φ operands.
pub fn remove_redundant_phis(func: &mut Function) -> usize {
    let phis = all_phis(func);
    // Node 0 is the root, node i + 1 the i-th value; φs come first.
    let mut values: Vec<Value> = phis.iter().map(|&(_, p, _)| func.insts[p].results[0]).collect();
    let mut node_of: SecondaryMap<Value, usize> = SecondaryMap::new();
    for (k, &v) in values.iter().enumerate() {
        node_of[v] = k + 1;
    }
    let mut edges: Vec<(Node, Node)> = Vec::new();
    for (k, &(b, _, position)) in phis.iter().enumerate() {
        for &e in &func.blocks[b].preds {
            let operand = func.edges[e].args[position];
            if node_of[operand] == 0 {
                values.push(operand);
                node_of[operand] = values.len();
            }
            edges.push((Node::new(node_of[operand]), Node::new(k + 1)));
        }
    }
    let root = Node::new(0);
    edges.extend((phis.len()..values.len()).map(|k| (root, Node::new(k + 1))));
    let graph = CsrGraph::new(values.len() + 1, root, edges).expect("edges join nodes of this graph");
    let dom = DomTree::compute(&graph);
    let mut top: Vec<usize> = (0..=values.len()).collect();
    // Parents come first in this order. φs that nothing flows into, in code that is never executed, are not in it,
    // and stay.
    for &n in dom.pre_order() {
        if let Some(up) = dom.idom(n).filter(|&up| up != root) {
            top[n.index()] = top[up.index()];
        }
    }
    let mut replaced = Replacements::default();
    let mut dead: EntitySet<Inst> = EntitySet::new();
    for (k, &(_, p, _)) in phis.iter().enumerate().filter(|&(k, _)| top[k + 1] != k + 1) {
        replaced.set(values[k], values[top[k + 1] - 1]);
        dead.insert(p);
    }
    replaced.apply(func);
    remove(func, &dead);
    phis.iter().filter(|phi| dead.contains(phi.1)).count()
}
