//! Flags that iterations hand on to the next one, as numbers.
//!
//! In `if (!space && !inside) words++; inside = !space;` each iteration asks for a bit that the one before computed.
//! Lanes pass values to each other by shuffles, which move whole elements: so the φ of such a flag becomes one of
//! bytes, and what asks for the flag compares that with zero.

use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, InstFlags, IntPred, Op, Type, Users, Value};

use super::carried::Dependent;
use super::find::Loop;

/// The element that a flag is passed on in.
const PASSED: Type = Type::Int(8);

/// Makes bytes of the flags among a header's φs that are nothing but what the iteration before computed.
pub(super) fn widen(func: &mut Function, l: &Loop) {
    let is_flag = |&phi: &Inst| func.ty(func.insts[phi].results[0]) == Type::BOOL;
    if !func.blocks[l.header].phis.iter().any(is_flag) {
        return;
    }
    let users = l.users(func);
    let flags: Vec<Inst> = func.blocks[l.header]
        .phis
        .iter()
        .copied()
        .filter(|&phi| is_passed_on(func, l, &users, phi))
        .collect();
    for &phi in &flags {
        widen_one(func, l, phi);
    }
    func.retain_phis(l.header, |phi| !flags.contains(&phi));
}

/// Makes a byte of one flag that is computed anew in each iteration: the φ of that.
pub(super) fn widen_alone(func: &mut Function, l: &Loop, flag: Inst) -> Option<Value> {
    let byte = widen_one(func, l, flag)?;
    func.retain_phis(l.header, |phi| phi != flag);
    Some(byte)
}

/// Whether a φ is a flag that is computed anew in each iteration.
fn is_passed_on(func: &Function, l: &Loop, users: &Users, phi: Inst) -> bool {
    let Some(position) = func.phi_position(phi) else { return false };
    let (flag, next) = (func.insts[phi].results[0], func.edges[l.back].args[position]);
    func.ty(flag) == Type::BOOL && next != flag && !Dependent::of(func, users, flag).values.contains(next)
}

/// Lets everybody ask a φ of bytes for a flag.
fn widen_one(func: &mut Function, l: &Loop, phi: Inst) -> Option<Value> {
    let position = func.phi_position(phi)?;
    let byte = func.add_phi(l.header, PASSED);
    let new = func.blocks[l.header].phis.len() - 1;
    let preds = func.blocks[l.header].preds.clone();
    for e in preds {
        let (from, flag) = (func.edges[e].from, func.edges[e].args[position]);
        let passed = byte_of(func, from, flag);
        func.set_phi_arg(e, new, passed);
    }
    let flag = func.insts[phi].results[0];
    for opposite in take_opposites(func, flag) {
        ask(func, opposite, byte, IntPred::Eq);
    }
    ask(func, flag, byte, IntPred::Ne);
    Some(byte)
}

/// Takes away the instructions that compute the opposite of a flag. Their results.
fn take_opposites(func: &mut Function, flag: Value) -> Vec<Value> {
    let is_opposite = |func: &Function, i: Inst| {
        let data = &func.insts[i];
        let of = |a: Value| a == flag || func.as_int(a) == Some(1);
        data.op == Op::Binary(BinaryOp::Xor) && data.args.contains(&flag) && data.args.iter().all(|&a| of(a))
    };
    let mut results = Vec::new();
    for b in func.layout.clone() {
        let all = std::mem::take(&mut func.blocks[b].insts);
        let (taken, kept): (Vec<Inst>, Vec<Inst>) = all.into_iter().partition(|&i| is_opposite(func, i));
        results.extend(taken.into_iter().map(|i| func.insts[i].results[0]));
        func.blocks[b].insts = kept;
    }
    results
}

/// Has everybody compare a byte with zero for a flag, just before it is needed: what the iteration before computed is
/// there no sooner than what this one computes from the same.
fn ask(func: &mut Function, flag: Value, byte: Value, pred: IntPred) {
    let zero = func.int_const(8, 0);
    let asked_before = |func: &mut Function, user: Inst| {
        func.insert_value_before(user, Op::ICmp(pred), &[byte, zero], Type::BOOL, InstFlags::empty())
    };
    for b in func.layout.clone() {
        for user in func.block_insts(b).collect::<Vec<Inst>>() {
            if func.insts[user].args.contains(&flag) {
                let asked = asked_before(func, user);
                func.insts[user].args.iter_mut().filter(|arg| **arg == flag).for_each(|arg| *arg = asked);
            }
        }
        for e in func.out_edges(b).to_vec() {
            if func.edges[e].args.contains(&flag) {
                let asked = asked_before(func, func.terminator(b));
                func.edges[e].args.iter_mut().filter(|arg| **arg == flag).for_each(|arg| *arg = asked);
            }
        }
    }
}

/// A flag as a byte, as soon as it is known: a constant as a constant, what another block computes in the block that
/// hands it on.
fn byte_of(func: &mut Function, from: Block, flag: Value) -> Value {
    if let Some(number) = func.as_int(flag) {
        return func.int_const(8, number);
    }
    let byte = func.append_value(from, Op::Cast(CastOp::ZExt), &[flag], PASSED);
    if let Some(made) = func.def_inst(flag).filter(|&made| func.insts[made].block == from) {
        let insts = &mut func.blocks[from].insts;
        let last = insts.pop().expect("it has just been appended");
        let behind = insts.iter().position(|&i| i == made).map_or(0, |at| at + 1);
        insts.insert(behind, last);
    }
    byte
}
