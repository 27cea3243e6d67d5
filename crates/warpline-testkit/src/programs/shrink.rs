//! Making a failing program smaller.

use warpline_ir::verify::verify;
use warpline_ir::{Block, Constant, Function, Inst, Op, Type, Value};

use super::Program;

/// Removes what it can from the kernel as long as `fails` stays true: branches become one of their sides, stores and
/// calls go, values become zero. The result fails, is valid, and none of these steps makes it fail still.
///
/// `fails` is asked about valid programs only. It should bound its runs (a removed exit can make a loop endless).
pub fn shrink(program: &Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let before = size(best.function());
        for step in [straighten, stop, drop_instructions, zero_operands, drop_phis, merge_chains] {
            step(&mut best, &mut |p: &Program| verify(&p.module, p.function()).is_ok() && fails(p));
        }
        if size(best.function()) >= before {
            return best;
        }
    }
}

type Test<'a> = &'a mut dyn FnMut(&Program) -> bool;

fn size(f: &Function) -> usize {
    let operands = |i: Inst| f.insts[i].args.iter().filter(|&&v| f.constant(v).is_none()).count();
    let per_inst = |i| 1 + operands(i);
    let edges: usize =
        f.layout.iter().flat_map(|&b| f.out_edges(b)).map(|&e| 1 + f.edges[e].args.len()).sum();
    edges + f.layout.iter().flat_map(|&b| f.block_insts(b)).map(per_inst).sum::<usize>()
}

/// Keeps a change if the program still fails.
fn attempt(best: &mut Program, fails: Test<'_>, change: impl FnOnce(&mut Function)) {
    let mut candidate = best.clone();
    change(&mut candidate.module.functions[best.kernel]);
    if fails(&candidate) {
        *best = candidate;
    }
}

/// Lets a block go to one of its successors always.
fn straighten(best: &mut Program, fails: Test<'_>) {
    for b in best.function().layout.clone() {
        let mut k = 0;
        while best.function().layout.contains(&b) && best.function().out_edges(b).len() > 1 {
            if k >= best.function().out_edges(b).len() {
                break;
            }
            attempt(best, fails, |f| {
                let e = f.out_edges(b)[k];
                let (to, args) = (f.edges[e].to, f.edges[e].args.clone());
                let term = f.set_terminator(b, Op::Br, &[], &[to]);
                let new = f.insts[term].edges[0];
                f.edges[new].args = args;
                f.remove_unreachable_blocks();
            });
            k += 1;
        }
    }
}

/// Lets a block return.
fn stop(best: &mut Program, fails: Test<'_>) {
    for b in best.function().layout.clone() {
        if best.function().layout.contains(&b) && !best.function().out_edges(b).is_empty() {
            attempt(best, fails, |f| {
                let ret = f.ret;
                match zero(f, ret) {
                    Some(z) => f.set_terminator(b, Op::Ret, &[z], &[]),
                    None => f.set_terminator(b, Op::Ret, &[], &[]),
                };
                f.remove_unreachable_blocks();
            });
        }
    }
}

fn zero(f: &mut Function, ty: Type) -> Option<Value> {
    let c = match ty {
        Type::Int(w) if w <= 128 => Constant::int(w, 0),
        Type::Float(kind) => Constant::Float { kind, bits: 0 },
        Type::Vector(_) | Type::Aggregate(_) => Constant::Zero(ty),
        _ => return None,
    };
    Some(f.constant_value(c))
}

fn replace(f: &mut Function, from: Value, to: Value) {
    f.map_operands(|v| if v == from { to } else { v });
}

/// Removes instructions; zero stands for their results.
fn drop_instructions(best: &mut Program, fails: Test<'_>) {
    for b in best.function().layout.clone() {
        for i in best.function().blocks[b].insts.clone() {
            attempt(best, fails, |f| {
                for r in f.insts[i].results.clone() {
                    if let Some(z) = zero(f, f.ty(r)) {
                        replace(f, r, z);
                    }
                }
                f.blocks[b].insts.retain(|&x| x != i);
            });
        }
    }
}

fn zero_operands(best: &mut Program, fails: Test<'_>) {
    for b in best.function().layout.clone() {
        for i in best.function().block_insts(b).collect::<Vec<_>>() {
            for k in 0..best.function().insts[i].args.len() {
                let v = best.function().insts[i].args[k];
                if best.function().constant(v).is_none() {
                    attempt(best, fails, |f| {
                        if let Some(z) = zero(f, f.ty(v)) {
                            f.insts[i].args[k] = z;
                        }
                    });
                }
            }
        }
    }
}

fn drop_phis(best: &mut Program, fails: Test<'_>) {
    for b in best.function().layout.clone() {
        for phi in best.function().blocks[b].phis.clone() {
            attempt(best, fails, |f| {
                let r = f.insts[phi].results[0];
                if let Some(z) = zero(f, f.ty(r)) {
                    replace(f, r, z);
                    f.retain_phis(b, |p| p != phi);
                }
            });
        }
    }
}

/// Joins a block with its only successor, of which it is the only predecessor.
fn merge_chains(best: &mut Program, fails: Test<'_>) {
    for b in best.function().layout.clone() {
        while let Some(next) = only_successor(best.function(), b) {
            let before = best.function().layout.len();
            attempt(best, fails, |f| merge(f, b, next));
            if best.function().layout.len() == before {
                break;
            }
        }
    }
}

fn only_successor(f: &Function, b: Block) -> Option<Block> {
    let live = f.layout.contains(&b);
    match f.out_edges(b) {
        [e] if live && matches!(f.insts[f.terminator(b)].op, Op::Br) => {
            let to = f.edges[*e].to;
            (f.blocks[to].preds.len() == 1 && to != b && f.blocks[to].phis.is_empty()).then_some(to)
        }
        _ => None,
    }
}

fn merge(f: &mut Function, b: Block, next: Block) {
    let moved = std::mem::take(&mut f.blocks[next].insts);
    for &i in &moved {
        f.insts[i].block = b;
    }
    f.blocks[b].insts.extend(moved);
    let term = f.terminator(next);
    let (op, args) = (f.insts[term].op.clone(), f.insts[term].args.clone());
    let edges: Vec<_> =
        f.insts[term].edges.iter().map(|&e| (f.edges[e].to, f.edges[e].args.clone())).collect();
    f.clear_terminator(next);
    let targets: Vec<Block> = edges.iter().map(|e| e.0).collect();
    let new = f.set_terminator(b, op, &args, &targets);
    for (k, (_, args)) in edges.into_iter().enumerate() {
        let e = f.insts[new].edges[k];
        f.edges[e].args = args;
    }
    f.remove_block(next);
}
