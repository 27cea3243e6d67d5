//! What a part of a function takes from the rest of it, to become a function of its own.

use cranelift_entity::EntitySet;

use warpline_ir::{BinaryOp, Block, Edge, Function, Inst, Op, Type, Value};

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

/// Whether a value is what another one lacks to a constant, as `255 - a` is to `a`, and blocks multiply with it: that
/// the two add up to the constant says how great a blend by them is, so that a part that has the blocks is to see it.
pub(super) fn is_other_weight(func: &Function, v: Value, is_inside: impl Fn(Block) -> bool) -> bool {
    let made = func.def_inst(v).filter(|_| matches!(func.ty(v), Type::Int(8..=64)));
    let lacks = made.map(|i| &func.insts[i]).is_some_and(|data| match (&data.op, &data.args[..]) {
        (Op::Binary(BinaryOp::Sub), &[whole, _]) => func.as_int(whole).is_some(),
        (Op::Binary(BinaryOp::Xor), &[_, all]) => {
            func.as_int(all).is_some_and(|all| all & all.wrapping_add(1) == 0)
        }
        _ => false,
    });
    let multiplies = |b: &Block| {
        let is_product = |i: &&Inst| func.insts[**i].op == Op::Binary(BinaryOp::Mul);
        func.blocks[*b].insts.iter().filter(is_product).any(|&i| func.insts[i].args.contains(&v))
    };
    lacks && func.layout.iter().filter(|b| is_inside(**b)).any(multiplies)
}

/// Whether a value is a pointer that may have been made of another one. As parameters, the two would lead to the same
/// memory, so that neither is `noalias`.
pub(super) fn is_derived(func: &Function, v: Value) -> bool {
    func.ty(v).is_ptr() && !func.params.contains(&v)
}
