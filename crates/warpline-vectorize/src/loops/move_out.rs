//! The vector code of a loop, moved into a function of its own.
//!
//! A function with a vector loop saves registers, and aligns the stack for what does not fit into vector registers,
//! before it knows how many iterations there are. That takes longer than a few iterations of the scalar loop. So
//! where short loops are left to the scalar code, the vector code is called, and only the callee pays.
//!
//! If little follows the loop, the callee has a copy of that and of the scalar loop, and returns what the function
//! does. Then the caller has nothing to keep for later, and saves no registers for the call.

use cranelift_entity::{EntitySet, SecondaryMap};

use super::{Nest, outside};
use crate::objects::lifetime_marker;
use warpline_ir::{Block, CallInfo, Constant, Effects, FuncId, Function, Inst, Module, Op, Type, Value};

/// So many instructions behind a loop are copied at most.
const MAX_COPIED: usize = 64;

/// Moves blocks into a new function, which stays a function. Control comes to the first of them only, which has no φs,
/// and leaves them for `exit` only; what they compute is used by the φs of that block only. The first block calls the
/// function instead. `exit` leads to the scalar loop, which begins at `header`. What is returned besides the function:
/// whether it has the rest of the program, too, so that nothing but short loops gets to the scalar loop.
pub(super) fn move_out(
    module: &mut Module,
    func: &mut Function,
    blocks: &[Block],
    (exit, header): (Block, Block),
    name: &str,
) -> (FuncId, bool) {
    match rest(func, exit, header) {
        Some(rest) => (with_rest(module, func, blocks, &rest, name), true),
        None => (alone(module, func, blocks, exit, name), false),
    }
}

/// The blocks from one on, if they are few and there is nothing in them, behind the loop with this header, that a copy
/// could do otherwise: no other loop that may still be vectorized, no call, nothing that is not understood.
fn rest(func: &Function, from: Block, header: Block) -> Option<Vec<Block>> {
    let nest = Nest::of(func);
    let in_loop = |b: Block| nest.around(b).any(|h| h == header);
    let (mut rest, mut seen, mut copied) = (vec![from], EntitySet::new(), 0);
    seen.insert(from);
    let mut next = 0;
    while let Some(&b) = rest.get(next) {
        next += 1;
        let cannot_be_copied = |i: Inst| match &func.insts[i].op {
            Op::Opaque(_) | Op::OpaqueTerm(_) => true,
            Op::Call(call) => call.callee.is_none(),
            _ => false,
        };
        if func.block_insts(b).any(cannot_be_copied) {
            return None;
        }
        if !in_loop(b) {
            copied += func.block_insts(b).count();
            let calls = func.block_insts(b).any(|i| matches!(func.insts[i].op, Op::Call(_)));
            if copied > MAX_COPIED || calls || nest.around(b).next().is_some() {
                return None;
            }
        }
        rest.extend(func.successors(b).filter(|&to| seen.insert(to)));
    }
    (!func.variadic).then_some(rest)
}

/// Moves blocks and copies those of the rest, of which the first follows them. Instead of the first block, the
/// function is called, and what it returns is returned.
fn with_rest(
    module: &mut Module,
    func: &mut Function,
    blocks: &[Block],
    rest: &[Block],
    name: &str,
) -> FuncId {
    let all: Vec<Block> = blocks.iter().chain(rest).copied().collect();
    let taken = taken(func, &all);
    forget_lifetimes(module, func, &taken);
    let made = shell(func, &all, &taken, name);
    let result = call(module, func, blocks, &taken, made);
    func.set_terminator(blocks[0], Op::Ret, result.1.as_slice(), &[]);
    result.0
}

/// Adds a function to the module and has the first of some blocks call it; what the others are goes. The function, and
/// what it returns.
fn call(
    module: &mut Module,
    func: &mut Function,
    blocks: &[Block],
    taken: &[Value],
    made: Function,
) -> (FuncId, Option<Value>) {
    let (ret, types) = (made.ret, taken.iter().map(|&v| func.ty(v)).collect::<Vec<_>>());
    let symbol = module.function_symbol(&made.name, &types, ret, Effects::UNKNOWN);
    let made = module.functions.push(made);
    for &b in blocks {
        func.clear_terminator(b);
        func.retain_phis(b, |_| false);
        func.blocks[b].insts.clear();
    }
    let (at, gone) = (blocks[0], set_of(&blocks[1..]));
    func.layout.retain(|&b| !gone.contains(b));
    let info = CallInfo { callee: Some(symbol), effects: Effects::UNKNOWN, variadic_fixed: None };
    let call = func.append(at, Op::Call(Box::new(info)), taken, ret);
    (made, func.insts[call].result())
}

/// Moves blocks that `exit` follows.
fn alone(module: &mut Module, func: &mut Function, blocks: &[Block], exit: Block, name: &str) -> FuncId {
    let taken = taken(func, blocks);
    forget_lifetimes(module, func, &taken);
    let made = callee(module, func, blocks, exit, &taken, name);
    let (made, result) = call(module, func, blocks, &taken, made);
    let at = blocks[0];
    let phis: Vec<Inst> = func.blocks[exit].phis.clone();
    let values = phis.iter().enumerate().map(|(k, &phi)| {
        let result = result.expect("it returns what the φs need");
        let ty = func.ty(func.insts[phi].results[0]);
        match phis.len() {
            1 => result,
            _ => func.append_value(at, Op::ExtractValue([k as u32].into()), &[result], ty),
        }
    });
    let values: Vec<Value> = values.collect();
    let br = func.set_terminator(at, Op::Br, &[], &[exit]);
    let edge = func.insts[br].edges[0];
    for (k, &v) in values.iter().enumerate() {
        func.set_phi_arg(edge, k, v);
    }
    made
}

/// A function of some blocks of another one, of which the first is the entry. What they take from outside are its
/// parameters.
fn shell(func: &Function, blocks: &[Block], taken: &[Value], name: &str) -> Function {
    let mut made = func.clone();
    made.name = name.into();
    made.noinline = true;
    made.variadic = false;
    made.params.clear();
    let mut inner: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    // What one of them points to could be reached through another one that was made of it.
    let apart = !taken.iter().any(|&v| outside::is_derived(func, v));
    for &v in taken {
        let param = made.add_param(func.ty(v), &func.values[v].name);
        let mut facts = func.pointers[v];
        facts.noalias &= apart;
        // It may have been freed since the function began.
        facts.dereferenceable = 0;
        made.pointers[param] = facts;
        inner[v] = Some(param);
    }
    made.map_operands(|v| inner[v].unwrap_or(v));
    let inside = set_of(blocks);
    for b in made.layout.clone() {
        if !inside.contains(b) {
            made.clear_terminator(b);
        }
    }
    made.layout = blocks.to_vec();
    made
}

/// The new function: the blocks, and the other one's exit, which returns what its φs are.
fn callee(
    module: &mut Module,
    func: &Function,
    blocks: &[Block],
    exit: Block,
    taken: &[Value],
    name: &str,
) -> Function {
    let mut made = shell(func, blocks, taken, name);
    made.layout.push(exit);
    made.blocks[exit].insts.clear();
    let phis = made.blocks[exit].phis.iter().map(|&phi| made.insts[phi].results[0]);
    let values: Vec<Value> = phis.collect();
    let result = match values[..] {
        [] => None,
        [one] => Some(one),
        _ => {
            let types = values.iter().map(|&v| made.ty(v)).collect();
            let ty = module.types.structure(types, false);
            let mut whole = made.constant_value(Constant::Poison(ty));
            for (k, &v) in values.iter().enumerate() {
                whole = made.append_value(exit, Op::InsertValue([k as u32].into()), &[whole, v], ty);
            }
            Some(whole)
        }
    };
    made.ret = result.map_or(Type::Void, |v| made.ty(v));
    made.set_terminator(exit, Op::Ret, result.as_slice(), &[]);
    made
}

/// Removes the markers of the lifetimes of objects on the stack that become arguments: only what allocates an object may
/// have them, and the callee may have had one of a pair.
fn forget_lifetimes(module: &Module, func: &mut Function, taken: &[Value]) {
    let begins_or_ends = |func: &Function, i: Inst| {
        lifetime_marker(module, func, i).is_some()
            && func.insts[i].args.iter().any(|a| func.is_alloca(*a) && taken.contains(a))
    };
    for b in func.layout.clone() {
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        insts.retain(|&i| !begins_or_ends(func, i));
        func.blocks[b].insts = insts;
    }
}

/// The values that blocks use and do not compute, in the order of their uses.
fn taken(func: &Function, blocks: &[Block]) -> Vec<Value> {
    let inside = set_of(blocks);
    outside::taken(func, blocks.iter().copied(), |b| inside.contains(b), |_| true)
}

fn set_of(blocks: &[Block]) -> EntitySet<Block> {
    let mut set = EntitySet::new();
    for &b in blocks {
        set.insert(b);
    }
    set
}
