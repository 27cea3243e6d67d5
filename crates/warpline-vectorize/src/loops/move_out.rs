//! The vector code of a loop, moved into a function of its own.
//!
//! A function with a vector loop saves registers, and aligns the stack for what does not fit into vector registers,
//! before it knows how many iterations there are. That takes longer than a few iterations of the scalar loop. So
//! where short loops are left to the scalar code, the vector code is called, and only the callee pays.

use cranelift_entity::{EntitySet, SecondaryMap};

use warpline_ir::{Block, CallInfo, Constant, Effects, FuncId, Function, Inst, Module, Op, Type, Value};

/// Moves blocks into a new function, which stays a function. Control comes to the first of them only, which has no φs,
/// and leaves them for `exit` only; what they compute is used by the φs of that block only. The first block calls the
/// function instead.
pub(super) fn move_out(
    module: &mut Module,
    func: &mut Function,
    blocks: &[Block],
    exit: Block,
    name: &str,
) -> FuncId {
    let taken = taken(func, blocks);
    let made = callee(module, func, blocks, exit, &taken, name);
    let (ret, types) = (made.ret, taken.iter().map(|&v| func.ty(v)).collect::<Vec<_>>());
    let symbol = module.function_symbol(name, &types, ret, Effects::UNKNOWN);
    let made = module.functions.push(made);
    for &b in blocks {
        func.clear_terminator(b);
        func.retain_phis(b, |_| false);
        func.blocks[b].insts.clear();
    }
    func.layout.retain(|b| *b == blocks[0] || !blocks.contains(b));
    let at = blocks[0];
    let info = CallInfo { callee: Some(symbol), effects: Effects::UNKNOWN, variadic_fixed: None };
    let call = func.append(at, Op::Call(Box::new(info)), &taken, ret);
    let phis: Vec<Inst> = func.blocks[exit].phis.clone();
    let result = func.insts[call].result();
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

/// The new function: the blocks, and the other one's exit, which returns what its φs are.
fn callee(
    module: &mut Module,
    func: &Function,
    blocks: &[Block],
    exit: Block,
    taken: &[Value],
    name: &str,
) -> Function {
    let mut made = func.clone();
    made.name = name.into();
    made.noinline = true;
    made.params.clear();
    let mut inner: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    // What one of them points to could be reached through another one that was made of it.
    let apart = taken.iter().all(|v| !func.ty(*v).is_ptr() || func.params.contains(v));
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
    for b in made.layout.clone() {
        if !blocks.contains(&b) {
            made.clear_terminator(b);
        }
    }
    made.layout = blocks.iter().copied().chain([exit]).collect();
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

/// The values that blocks use and do not compute, in the order of their uses.
fn taken(func: &Function, blocks: &[Block]) -> Vec<Value> {
    let (mut taken, mut seen) = (Vec::new(), EntitySet::new());
    for &b in blocks {
        let operands = func.block_insts(b).flat_map(|i| func.insts[i].args.iter().copied());
        let on_edges = func.out_edges(b).iter().flat_map(|&e| func.edges[e].args.iter().copied());
        for v in operands.chain(on_edges) {
            let outside =
                func.constant(v).is_none() && func.def_block(v).is_none_or(|d| !blocks.contains(&d));
            if outside && seen.insert(v) {
                taken.push(v);
            }
        }
    }
    taken
}
