//! Which functions of a module a function calls by name, and which of them ask about lanes.

use std::collections::{HashMap, HashSet};

use cranelift_entity::EntitySet;

use warpline_ir::{FuncId, Function, Inst, Module, Symbol};
use warpline_uniformity::rules::{called, lane_op};

/// The functions with a body, by symbol.
pub fn bodies(module: &Module) -> HashMap<Symbol, FuncId> {
    module.functions.iter().filter_map(|(id, f)| Some((module.symbol(&f.name)?, id))).collect()
}

/// The functions with a body that a function may call by name, in some number of steps, and which of them execute
/// lane operations, themselves or in what they call.
pub(crate) fn functions_with_cross_lane_operations(module: &Module, func: &Function) -> EntitySet<Symbol> {
    asking_among(module, &bodies(module), calls(module, func).collect())
}

/// Whether a function executes lane operations, itself or in what it calls.
pub fn has_cross_lane_operations(module: &Module, func: &Function) -> bool {
    insts(func).any(|i| lane_op(module, func, i).is_some())
        || functions_with_cross_lane_operations(module, func).iter().next().is_some()
}

/// All functions with a body that execute lane operations, themselves or in what they call.
pub fn all_asking_lanes(module: &Module) -> HashSet<Symbol> {
    let bodies = bodies(module);
    asking_among(module, &bodies, bodies.keys().copied().collect()).iter().collect()
}

/// The same of functions that are called from these on, and of these.
pub(crate) fn asking_among(
    module: &Module,
    bodies: &HashMap<Symbol, FuncId>,
    mut work: Vec<Symbol>,
) -> EntitySet<Symbol> {
    let mut callers: HashMap<Symbol, Vec<Symbol>> = HashMap::new();
    let (mut seen, mut asking): (EntitySet<Symbol>, EntitySet<Symbol>) = Default::default();
    let mut found = Vec::new();
    while let Some(s) = work.pop() {
        let Some(&id) = bodies.get(&s) else { continue };
        if !seen.insert(s) {
            continue;
        }
        let callee = &module.functions[id];
        if insts(callee).any(|i| lane_op(module, callee, i).is_some()) {
            found.push(s);
        }
        for c in calls(module, callee) {
            callers.entry(c).or_default().push(s);
            work.push(c);
        }
    }
    while let Some(s) = found.pop() {
        if asking.insert(s) {
            found.extend(callers.get(&s).into_iter().flatten());
        }
    }
    asking
}

fn insts(func: &Function) -> impl Iterator<Item = Inst> + '_ {
    func.layout.iter().flat_map(|&b| func.block_insts(b))
}

/// What a function calls by name, in calls of any form.
/// The functions that a function calls by name.
pub(crate) fn calls(module: &Module, func: &Function) -> impl Iterator<Item = Symbol> {
    insts(func).filter_map(|i| Some(called(module, func, i)?.callee?.0))
}
