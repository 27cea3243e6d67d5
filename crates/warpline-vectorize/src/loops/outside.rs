//! What a part of a function takes from the rest of it, to become a function of its own.

use cranelift_entity::EntitySet;

use warpline_ir::{Block, Edge, Function, Value};

/// The values that blocks use and that others compute, in the order of their uses. Of what is passed on edges, that
/// on `edges` counts.
pub(super) fn taken(
    func: &Function,
    blocks: impl IntoIterator<Item = Block>,
    is_inside: impl Fn(Block) -> bool,
    edges: impl Fn(Edge) -> bool,
) -> Vec<Value> {
    let (mut taken, mut seen) = (Vec::new(), EntitySet::new());
    let from_outside =
        |v: Value| func.constant(v).is_none() && func.def_block(v).is_none_or(|d| !is_inside(d));
    for b in blocks {
        let operands = func.block_insts(b).flat_map(|i| func.insts[i].args.iter().copied());
        let on_edges = func.out_edges(b).iter().filter(|&&e| edges(e));
        for v in operands.chain(on_edges.flat_map(|&e| func.edges[e].args.iter().copied())) {
            if from_outside(v) && seen.insert(v) {
                taken.push(v);
            }
        }
    }
    taken
}

/// Whether a value is a pointer that may have been made of another one. As parameters, the two would lead to the same
/// memory, so that neither is `noalias`.
pub(super) fn is_derived(func: &Function, v: Value) -> bool {
    func.ty(v).is_ptr() && !func.params.contains(&v)
}
