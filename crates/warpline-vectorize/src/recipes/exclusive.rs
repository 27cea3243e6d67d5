//! Accesses under conditions to memory that nobody else accesses meanwhile.
//!
//! The user has promised that for some pointers, and that what is accessed is there whether or not conditions hold. So
//! all lanes load, and what inactive lanes load is stored again. Outside of inner loops, that is: the promise is about
//! what an iteration would access if its conditions held, and not about what it would in the next round of a loop that
//! it has left.

use cranelift_entity::EntitySet;

use super::Rep;
use crate::dependences::{Apart, Region};
use cranelift_entity::SecondaryMap;
use warpline_analysis::{CycleForest, Node};
use warpline_ir::{Function, Inst, Module, Value};

/// Loads and stores in blocks with a mask that need none if the masks of the function's lanes are all set at its entry.
pub(super) fn find(
    module: &Module,
    func: &Function,
    reps: &SecondaryMap<Value, Rep>,
    region: Option<&Region<'_>>,
) -> EntitySet<Inst> {
    let mut found = EntitySet::new();
    let masked = |b: &warpline_ir::Block| func.blocks[*b].mask.is_some();
    let promised = func.params.iter().any(|&p| func.pointers[p].exclusive)
        || region.is_some_and(|r| r.func.params.iter().any(|&p| r.func.pointers[p].exclusive));
    if !promised || !func.layout.iter().any(&masked) {
        return found;
    }
    let (graph, _) = func.graph();
    let cycles = CycleForest::compute(&graph);
    let apart = Apart::new(module, func, region);
    for &b in func.layout.iter().filter(|b| masked(b) && cycles.innermost(Node::from(**b)).is_none()) {
        for &i in &func.blocks[b].insts {
            let simple = func.accessed(i).filter(|a| a.access.is_simple());
            let strided = simple.filter(|a| matches!(reps[a.address], Rep::Strided(_)));
            if strided.is_some_and(|a| apart.is_exclusive(a.address)) {
                found.insert(i);
            }
        }
    }
    found
}
