//! Loads that random programs make more often than once: on all ways behind a branch, or on most of them.

use warpline_analysis::DomTree;
use warpline_ir::{BinaryOp, Block, Function, Inst, Op, Type, Value};

use super::Program;
use crate::rng::SplitMix64;

/// Makes some loads of a program once more on the ways behind branches, at the beginning of blocks or anywhere in them,
/// also behind stores. What they load changes what the block stores. How many there are.
pub fn repeat_loads(program: &mut Program, rng: &mut SplitMix64) -> usize {
    let func = &mut program.module.functions[program.kernel];
    let dom = DomTree::compute(&func.graph().0);
    let all: Vec<Inst> = func.layout.iter().flat_map(|&b| func.blocks[b].insts.clone()).collect();
    let loads: Vec<Inst> =
        all.into_iter().filter(|&i| matches!(func.insts[i].op, Op::Load(a) if a.is_simple())).collect();
    let mut repeated = 0;
    for b in func.layout.clone() {
        if loads.is_empty() || !dom.is_reachable(b.into()) || func.successors(b).count() != 2 {
            continue;
        }
        for _ in 0..1 + rng.below(2) {
            let load = *rng.pick(&loads);
            for to in ends_of_ways(func, rng, b) {
                repeated += usize::from(repeat(func, &dom, rng, load, to));
            }
        }
    }
    repeated
}

/// Blocks that ways from the end of a block come to: its successors, or successors of these. Sometimes one way is left
/// out.
fn ends_of_ways(func: &Function, rng: &mut SplitMix64, b: Block) -> Vec<Block> {
    let mut found = Vec::new();
    for s in func.successors(b) {
        let goes_on = rng.chance(1, 3) && func.successors(s).count() == 2;
        match goes_on {
            true => found.extend(func.successors(s)),
            false => found.push(s),
        }
    }
    if rng.chance(1, 6) {
        found.pop();
    }
    found.sort();
    found.dedup();
    found
}

/// Loads once more in a block, if the address can be had there, and changes what the block stores by what is loaded.
fn repeat(func: &mut Function, dom: &DomTree, rng: &mut SplitMix64, load: Inst, to: Block) -> bool {
    let Op::Load(access) = func.insts[load].op else { return false };
    let Some((address, computed)) = address_in(func, dom, func.insts[load].args[0], to) else { return false };
    let ty = func.ty(func.insts[load].results[0]);
    let count = func.first_sigma(to);
    let at = match computed {
        // What is computed in the block itself must be there.
        _ if func.def_block(address) == Some(to) && computed.is_none() => count,
        _ if rng.chance(2, 3) => 0,
        _ => rng.below(count + 1),
    };
    let again = func.make_inst(to, Op::Load(access), &[address], &[ty]);
    let loaded = func.insts[again].results[0];
    func.blocks[to].insts.splice(at..at, computed.into_iter().chain([again]));
    mix(func, rng, to, again, loaded);
    true
}

/// An address in another block, and the instruction that computes it, if there must be a new one.
fn address_in(
    func: &mut Function,
    dom: &DomTree,
    address: Value,
    to: Block,
) -> Option<(Value, Option<Inst>)> {
    let is_there = |func: &Function, v: Value| {
        func.def_block(v).is_none_or(|at| dom.strictly_dominates(at.into(), to.into()))
    };
    if is_there(func, address) {
        return Some((address, None));
    }
    let i = func.def_inst(address)?;
    let data = &func.insts[i];
    let (op, args, flags) = (data.op.clone(), data.args.to_vec(), data.flags);
    if !matches!(op, Op::Gep(_)) || !args.iter().all(|&a| is_there(func, a)) {
        return None;
    }
    let ty = func.ty(address);
    let new = func.make_inst(to, op, &args, &[ty]);
    func.insts[new].flags = flags;
    Some((func.insts[new].results[0], Some(new)))
}

/// Lets an integer that has been loaded change what the block stores behind it, if it stores one of that type.
fn mix(func: &mut Function, rng: &mut SplitMix64, b: Block, load: Inst, loaded: Value) {
    let ty = func.ty(loaded);
    if !ty.is_int() || ty == Type::BOOL {
        return;
    }
    let insts = &func.blocks[b].insts;
    let from = insts.iter().position(|&i| i == load).unwrap_or(0);
    let stores = |i: &Inst| {
        let data = &func.insts[*i];
        matches!(data.op, Op::Store(access) if !access.is_volatile) && func.ty(data.args[0]) == ty
    };
    let later: Vec<Inst> = insts[from..].iter().copied().filter(stores).collect();
    if later.is_empty() {
        return;
    }
    let store = *rng.pick(&later);
    let before = func.insts[store].args[0];
    let sum = func.make_inst(b, Op::Binary(BinaryOp::Xor), &[before, loaded], &[ty]);
    func.insts[store].args[0] = func.insts[sum].results[0];
    let at = func.blocks[b].insts.iter().position(|&i| i == store).unwrap_or(0);
    func.blocks[b].insts.insert(at, sum);
}
