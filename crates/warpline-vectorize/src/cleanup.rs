//! Folding of mask operations and dead φs after SSA construction.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use warpline_analysis::{DomTree, Node};

use warpline_dataflow::ssa;
use warpline_ir::{Block, Function, Inst, LaneOp, Op, Value};

/// Folds mask operations with constant operands and trivial φs, then removes pure mask operations, blends and φs that
/// nothing uses.
pub(crate) fn simplify_masks(func: &mut Function) {
    let mut same: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let (graph, _) = func.graph();
    let dom = DomTree::compute(&graph);
    loop {
        let mut changed = false;
        for n in dom.pre_order() {
            let b = Block::from(*n);
            for i in func.block_insts(b).collect::<Vec<_>>() {
                let Some(v) = func.insts[i].result() else { continue };
                if same[v].is_some() {
                    continue;
                }
                for k in 0..func.insts[i].args.len() {
                    func.insts[i].args[k] = resolve(&same, func.insts[i].args[k]);
                }
                if let Some(w) = fold(func, &dom, &same, i) {
                    same[v] = w.into();
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    func.map_operands(|v| resolve(&same, v));
    ssa::remove_dead_phis(func);
    remove_dead_masks(func);
    ssa::remove_dead_phis(func);
}

fn resolve(same: &SecondaryMap<Value, PackedOption<Value>>, mut v: Value) -> Value {
    while let Some(w) = same[v].expand() {
        v = w;
    }
    v
}

/// The existing value that an instruction's result equals, if there is one.
fn fold(
    func: &mut Function,
    dom: &DomTree,
    same: &SecondaryMap<Value, PackedOption<Value>>,
    i: Inst,
) -> Option<Value> {
    let constant = |v: Value| func.as_int(v).map(|x| x != 0);
    let args = &func.insts[i].args;
    match func.insts[i].op {
        Op::Phi => fold_phi(func, dom, same, i),
        Op::Lane(LaneOp::MaskAny) => constant(args[0]).map(|_| args[0]),
        Op::Lane(LaneOp::MaskAnd) => match (constant(args[0]), constant(args[1])) {
            (Some(false), _) | (_, Some(true)) => Some(args[0]),
            (Some(true), _) | (_, Some(false)) => Some(args[1]),
            _ => None,
        },
        Op::Lane(LaneOp::MaskAndNot) => match (constant(args[0]), constant(args[1])) {
            (Some(false), _) | (_, Some(false)) => Some(args[0]),
            (_, Some(true)) => Some(func.bool_const(false)),
            _ => None,
        },
        Op::Lane(LaneOp::MaskOr) => match (constant(args[0]), constant(args[1])) {
            (Some(true), _) | (_, Some(false)) => Some(args[0]),
            (Some(false), _) | (_, Some(true)) => Some(args[1]),
            _ if args[0] == args[1] => Some(args[0]),
            _ => None,
        },
        Op::Lane(LaneOp::Blend | LaneOp::BlendAny) => match constant(args[0]) {
            Some(true) => Some(args[1]),
            Some(false) => Some(args[2]),
            None if args[1] == args[2] || func.is_poison(args[2]) => Some(args[1]),
            None => None,
        },
        _ => None,
    }
}

/// A φ all of whose operands are one value, itself or poison, if that value dominates it.
fn fold_phi(
    func: &Function,
    dom: &DomTree,
    same: &SecondaryMap<Value, PackedOption<Value>>,
    phi: Inst,
) -> Option<Value> {
    let v = func.insts[phi].results[0];
    let block = func.insts[phi].block;
    let position = func.phi_position(phi)?;
    let mut only: Option<Value> = None;
    let mut poison = None;
    for &e in &func.blocks[block].preds {
        let a = resolve(same, func.edges[e].args[position]);
        if func.is_poison(a) {
            poison = Some(a);
        } else if a != v && only.is_some_and(|o| o != a) {
            return None;
        } else if a != v {
            only = Some(a);
        }
    }
    let Some(a) = only else { return poison };
    let dominates = match func.def_block(a) {
        None => true,
        Some(d) => d != block && dom.strictly_dominates(Node::from(d), Node::from(block)),
    };
    dominates.then_some(a)
}

/// Removes mask operations and blends whose results are unused.
fn remove_dead_masks(func: &mut Function) {
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
    func.map_operands(|v| {
        uses[v] += 1;
        v
    });
    for b in func.layout.clone().into_iter().rev() {
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut kept: Vec<Inst> = Vec::with_capacity(insts.len());
        for i in insts.into_iter().rev() {
            let data = &func.insts[i];
            let ours = matches!(
                data.op,
                Op::Lane(
                    LaneOp::MaskAny
                        | LaneOp::MaskAnd
                        | LaneOp::MaskAndNot
                        | LaneOp::MaskOr
                        | LaneOp::BlendAny
                        | LaneOp::Blend
                )
            );
            if ours && data.results.iter().all(|&r| uses[r] == 0) {
                for &a in &data.args {
                    uses[a] -= 1;
                }
            } else {
                kept.push(i);
            }
        }
        kept.reverse();
        func.blocks[b].insts = kept;
    }
}
