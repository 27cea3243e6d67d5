//! Facts of arguments from known call sites: a parameter of a function that only the module itself calls, directly, is
//! uniform if it is at every call.
//!
//! Lanes that execute a call together enter the callee together, so what they agree on at the call they agree on in the
//! body. Callers come before callees. In a recursion all parameters are taken for uniform at first and those that some
//! call refutes are given up, until nothing changes: what then holds of the call from outside holds, by induction on
//! depth, of every other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cranelift_entity::EntityRef;
use warpline_analysis::{CsrGraph, Node, Sccs};

use super::rules::{Target, called};
use super::summary::{Input, Summaries};
use super::{Options, Uniformity};
use crate::shape::ArgShape;
use warpline_ir::{FuncId, Inst, Module, Symbol};

/// The shapes of parameters of functions whose calls are all known.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    of: BTreeMap<FuncId, Vec<ArgShape>>,
}

/// A direct call of a function whose calls are all known.
struct Call {
    inst: Inst,
    callee: FuncId,
}

impl Arguments {
    /// The shapes of a function's parameters; none if somebody else may call it.
    pub fn of(&self, id: FuncId) -> Option<&[ArgShape]> {
        self.of.get(&id).map(Vec::as_slice)
    }

    /// Those of all functions for which `is_closed` holds: that only direct calls in the module use. Each function that
    /// calls such a one is analysed once, and again when it turns out to be called with more that varies.
    pub fn compute(
        module: &Module,
        target: Target,
        input: impl Fn(FuncId) -> Input,
        is_closed: impl Fn(FuncId) -> bool,
        summaries: &Arc<Summaries>,
    ) -> Arguments {
        let calls = calls_of_closed(module, is_closed);
        let edges = calls.iter().flat_map(|(caller, calls)| {
            calls.iter().map(|c| (Node::new(caller.index()), Node::new(c.callee.index())))
        });
        let mut found = Arguments::default();
        for callee in calls.values().flatten().map(|c| c.callee) {
            let uniform = vec![ArgShape::Uniform; module.functions[callee].params.len()];
            found.of.insert(callee, uniform);
        }
        if found.of.is_empty() {
            return found;
        }
        let graph = CsrGraph::new(module.functions.len(), Node(0), edges).expect("nodes are functions");
        let components = Sccs::compute(&graph);
        // Components are numbered from callees to callers.
        let mut order: Vec<FuncId> = calls.keys().copied().collect();
        order.sort_by_key(|&id| (std::cmp::Reverse(components.of(Node::new(id.index()))), id));
        let place: BTreeMap<FuncId, usize> = order.iter().enumerate().map(|(k, &id)| (id, k)).collect();
        let mut stale: BTreeSet<usize> = (0..order.len()).collect();
        while let Some(next) = stale.pop_first() {
            let caller = order[next];
            let Input { mut args, facts, .. } = input(caller);
            if let Some(shapes) = found.of(caller) {
                args = shapes.to_vec();
            }
            let summaries = Some(Arc::clone(summaries));
            let options = Options { args, target, facts, summaries, ..Options::default() };
            let func = &module.functions[caller];
            let result = Uniformity::compute(module, func, &options);
            for call in &calls[&caller] {
                let data = &func.insts[call.inst];
                let agreed =
                    |k: usize| data.args.get(k).is_some_and(|&a| !result.is_divergent_at(a, data.block));
                let Some(shapes) = found.of.get_mut(&call.callee) else { continue };
                for (k, shape) in shapes.iter_mut().enumerate() {
                    if *shape == ArgShape::Uniform && !agreed(k) {
                        *shape = ArgShape::Varying;
                        stale.extend(place.get(&call.callee));
                    }
                }
            }
        }
        found
    }
}

/// The calls of closed functions by those that make them. A function of which an address is seen otherwise is left out.
fn calls_of_closed(module: &Module, is_closed: impl Fn(FuncId) -> bool) -> BTreeMap<FuncId, Vec<Call>> {
    let mut closed: BTreeMap<Symbol, FuncId> = BTreeMap::new();
    for (id, func) in &module.functions {
        if let Some(symbol) = module.symbol(&func.name).filter(|_| !func.layout.is_empty() && is_closed(id)) {
            closed.insert(symbol, id);
        }
    }
    let mut calls: BTreeMap<FuncId, Vec<Call>> = BTreeMap::new();
    for (caller, func) in &module.functions {
        for inst in func.layout.iter().flat_map(|&b| func.block_insts(b)) {
            let callee = called(module, func, inst).and_then(|c| c.callee).map(|(symbol, _)| symbol);
            if let Some(&callee) = callee.and_then(|symbol| closed.get(&symbol)) {
                calls.entry(caller).or_default().push(Call { inst, callee });
            }
        }
    }
    calls
}

/// What is known of parameters, by convention and by calls.
pub fn merged(by_convention: Vec<ArgShape>, by_calls: &[ArgShape]) -> Vec<ArgShape> {
    let length = by_convention.len().max(by_calls.len());
    let of = |list: &[ArgShape], k: usize| list.get(k).copied().unwrap_or(ArgShape::Varying);
    let pick = |k| match of(by_calls, k) {
        ArgShape::Uniform => ArgShape::Uniform,
        _ => of(&by_convention, k),
    };
    (0..length).map(pick).collect()
}
