//! Accesses under conditions to memory that nobody else accesses meanwhile.
//!
//! The user has promised that for some pointers, and that what is accessed is there whether or not conditions hold. So
//! all lanes load, and what inactive lanes load is stored again. Outside of inner loops, that is: the promise is about
//! what an iteration would access if its conditions held, and not about what it would in the next round of a loop that
//! it has left.
//!
//! Rust promises the first half of a `&mut`: nobody else accesses what it leads to, which may be written. What every
//! lane accesses without a condition is there, too: `for x in x { if *x > 1.0 { *x *= 0.5; } }` loads all of `x`.

use std::collections::HashMap;

use cranelift_entity::EntitySet;

use super::Rep;
use crate::dependences::{Apart, Region};
use cranelift_entity::SecondaryMap;
use warpline_analysis::{CycleForest, Node};
use warpline_dataflow::linear::Address;
use warpline_ir::{Accessed, Block, Function, Inst, Module, PointerFacts, Value};

/// Loads and stores in blocks with a mask that need none if the masks of the function's lanes are all set at its entry.
pub(super) fn find(
    module: &Module,
    func: &Function,
    reps: &SecondaryMap<Value, Rep>,
    region: Option<&Region<'_>>,
) -> EntitySet<Inst> {
    let mut found = EntitySet::new();
    let masked = |b: &Block| func.blocks[*b].mask.is_some();
    let promises = |what: fn(&PointerFacts) -> bool| {
        let by = |f: &Function| f.params.iter().any(|&p| what(&f.pointers[p]));
        by(func) || region.is_some_and(|r| by(r.func))
    };
    let any_is_unique = promises(|facts| facts.unique);
    if !any_is_unique && !promises(|facts| facts.exclusive) || !func.layout.iter().any(&masked) {
        return found;
    }
    let (graph, _) = func.graph();
    let cycles = CycleForest::compute(&graph);
    let apart = Apart::new(module, func, region);
    let outside = |b: &&Block| cycles.innermost(Node::from(**b)).is_none();
    let simple = |i: Inst| func.accessed(i).filter(|a| a.access.is_simple());
    let size = |a: &Accessed| module.layout.store_size(&module.types, a.ty);
    let place = |a: &Accessed| Address::of(module, func, a.address).ok_or(a.address);
    // How many bytes all lanes access where.
    let mut always: HashMap<Result<Address, Value>, u64> = HashMap::new();
    let without_mask = func.layout.iter().filter(|b| any_is_unique && !masked(b) && outside(b));
    for a in without_mask.flat_map(|&b| func.blocks[b].insts.iter().filter_map(|&i| simple(i))) {
        let most = always.entry(place(&a)).or_default();
        *most = size(&a).unwrap_or(0).max(*most);
    }
    let is_there =
        |a: &Accessed| size(a).is_some_and(|size| always.get(&place(a)).is_some_and(|&most| most >= size));
    for &b in func.layout.iter().filter(|b| masked(b) && outside(b)) {
        for &i in &func.blocks[b].insts {
            let strided = simple(i).filter(|a| matches!(reps[a.address], Rep::Strided(_)));
            let needs_no_mask =
                |a: &Accessed| apart.is_exclusive(a.address) || apart.is_unique(a.address) && is_there(a);
            if strided.is_some_and(|a| needs_no_mask(&a)) {
                found.insert(i);
            }
        }
    }
    found
}
