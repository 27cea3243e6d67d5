//! Stores that end all ways to a block become one store in that block.
//!
//! Where lanes part and each way ends in a store to the same address, as in
//! `if (c) out[i] = f(x); else out[i] = g(x);`, each of the stores would be made under a mask of its own. Behind the
//! ways, where all lanes are that were before, one is made of what has been computed on either.
//!
//! The address is the same if it is the same value, or computed by the same operations on the same values; these are
//! then done again for the one store.

use crate::VectorizeError;
use crate::pass::{Context, Unit};
use cranelift_entity::EntitySet;
use warpline_analysis::{DfsOrder, DomTree, Node};

use warpline_ir::{Block, Function, Inst, MemAccess, Module, Op, Value};

use super::if_conversion::is_pure;
use super::same_values::{Again, MAX_DEPTH, is_same};

/// How many ways to a block are looked at.
const MAX_WAYS: usize = 8;

/// Whether a function has such stores.
fn has_stores_to_sink(module: &Module, func: &Function) -> bool {
    joins(func).into_iter().any(|join| last_stores(module, func, join).is_some())
}

/// The pass.
pub(crate) fn run(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    if cx.options.width == 1 || !has_stores_to_sink(cx.module, &unit.func) {
        return Ok(false);
    }
    let uniformity = cx.uniformity(unit);
    Ok(sink_stores(cx.module, &mut unit.func, |v| uniformity.is_divergent(v)))
}

/// Moves those behind branches that lanes part at. Whether there were any.
fn sink_stores(module: &Module, func: &mut Function, is_divergent: impl Fn(Value) -> bool) -> bool {
    let mut changed = false;
    let dom = DomTree::compute(&func.graph().0);
    // What inner branches end in may go behind outer ones afterwards.
    for join in joins(func) {
        let parts = |b: Node| {
            let t = &func.insts[func.terminator(Block::from(b))];
            t.args.first().is_some_and(|&v| is_divergent(v))
        };
        if !dom.idom(Node::from(join)).is_some_and(parts) {
            continue;
        }
        while let Some(stores) = last_stores(module, func, join) {
            merge(func, join, &stores);
            changed = true;
        }
    }
    changed
}

/// The blocks that several ways lead to, but for headers of loops: inner ones first.
fn joins(func: &Function) -> Vec<Block> {
    let (graph, _) = func.graph();
    let mut seen = EntitySet::with_capacity(func.blocks.len());
    let mut found = Vec::new();
    for b in DfsOrder::compute(&graph).reverse_post_order().map(Block::from) {
        let preds = &func.blocks[b].preds;
        let forward = preds.iter().all(|&e| seen.contains(func.edges[e].from));
        seen.insert(b);
        if forward && (2..=MAX_WAYS).contains(&preds.len()) {
            found.push(b);
        }
    }
    found
}

/// The stores to one address that end all ways to a block, in the order of its edges.
fn last_stores(module: &Module, func: &Function, join: Block) -> Option<Vec<Inst>> {
    let preds = &func.blocks[join].preds;
    let last = |b: Block| {
        let block = &func.blocks[b];
        let ends = func.insts[func.terminator(b)].op == Op::Br && func.first_sigma(b) == block.insts.len();
        let i = block.insts.iter().rev().copied().find(|&i| !is_pure(module, func, i)).filter(|_| ends)?;
        matches!(func.insts[i].op, Op::Store(access) if access.is_simple()).then_some(i)
    };
    let stores = preds.iter().map(|&e| last(func.edges[e].from)).collect::<Option<Vec<Inst>>>()?;
    let (first, others) = stores.split_first()?;
    let stored = |i: Inst| &func.insts[i].args;
    let ty = func.ty(stored(*first)[0]);
    let one = ty.scalar().is_some()
        && others.iter().all(|&i| {
            let same = is_same(module, func, stored(*first)[1], stored(i)[1], MAX_DEPTH);
            i != *first && func.ty(stored(i)[0]) == ty && same
        });
    one.then_some(stores)
}

/// Makes one store at the beginning of a block of those that end the ways to it.
fn merge(func: &mut Function, join: Block, stores: &[Inst]) {
    let ours = stores[0];
    let values: Vec<Value> = stores.iter().map(|&i| func.insts[i].args[0]).collect();
    let addresses: Vec<Value> = stores.iter().map(|&i| func.insts[i].args[1]).collect();
    for &i in stores {
        let from = func.insts[i].block;
        func.blocks[from].insts.retain(|&k| k != i);
    }
    let stored = match values.iter().all(|v| *v == values[0]) {
        true => values[0],
        false => {
            let phi = func.add_phi(join, func.ty(values[0]));
            let position = func.blocks[join].phis.len() - 1;
            for (e, &v) in func.blocks[join].preds.clone().into_iter().zip(&values) {
                func.set_phi_arg(e, position, v);
            }
            phi
        }
    };
    let mut again = Again::new(join, |_, _| true);
    let address = again.value(func, &addresses);
    let align = |i: &Inst| match func.insts[*i].op {
        Op::Store(access) => access.align,
        _ => 1,
    };
    let align = stores.iter().map(align).min().unwrap_or(1);
    let is_hint = |i: &Inst| matches!(func.insts[*i].op, Op::Store(access) if access.is_nontemporal);
    let is_nontemporal = stores.iter().all(is_hint);
    let data = &mut func.insts[ours];
    (data.args[0], data.args[1], data.block) = (stored, address, join);
    data.origin = None.into();
    if let Op::Store(access) = &mut data.op {
        *access = MemAccess { align, is_nontemporal, ..*access };
    }
    again.made.push(ours);
    func.blocks[join].insts.splice(0..0, again.made);
}
