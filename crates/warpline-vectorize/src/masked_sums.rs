//! Sums over all lanes in functions with a mask: lanes that are not active add nothing.
//!
//! Of what a loop adds up, only the sum over all lanes counts ([`Options::sums`](crate::Options::sums)). Whole groups
//! may give it to other lanes than it is of, by instructions that add up many narrow numbers at once
//! ([`recipes`](crate::recipes)). What is left over may, too, if whoever calls the function takes the sums of all
//! lanes, of inactive ones as well. So each of these either has nothing added, where these instructions serve, or is
//! what it was before.

use warpline_ir::{BinaryOp, Function, Inst, Module, Op, Type, Users, Value};

use crate::options::{AddedUp, Form};
use crate::recipes::sums::{Addition, additions, conditional, summand};

/// Lets lanes without a mask add nothing to each sum, by the instructions for narrow numbers if the machine has them.
/// The mask is the last parameter; where it only says which lanes count, it becomes that here.
pub(crate) fn settle(
    module: &Module,
    func: &mut Function,
    form: Form,
    sums: &[AddedUp],
    has_instructions: bool,
) {
    let mask = match form {
        Form::Whole => return,
        Form::Masked => func.params.last().copied(),
        Form::Counting => Some(func.add_param(Type::BOOL, "counts")),
    };
    let Some(mask) = mask else { return };
    let active = (form == Form::Masked).then_some(mask);
    for sum in sums {
        let Some(start) = func.params.get(sum.parameter).copied() else { continue };
        let users = Users::of(func);
        let narrow = |a: &Addition| {
            let ty = func.ty(a.to);
            conditional(module, func, a.added, ty).is_some() || summand(module, func, a.added, ty).is_some()
        };
        let chain = additions(func, &users, start).filter(|all| has_instructions && all.iter().all(narrow));
        let is_for_all = |a: &Addition| func.blocks[func.insts[a.inst].block].mask.expand() == active;
        match chain.filter(|all| all.iter().all(is_for_all)) {
            Some(chain) => chain.iter().for_each(|a| add_where_active(module, func, a, mask)),
            None => keep_where_inactive(func, sum.result, start, mask),
        }
    }
}

/// Adds nothing in lanes that are not active.
fn add_where_active(module: &Module, func: &mut Function, addition: &Addition, mask: Value) {
    let Addition { inst, to, added, .. } = *addition;
    let (block, ty) = (func.insts[inst].block, func.ty(to));
    let nothing = func.int_const(ty.int_bits().unwrap_or(64), 0);
    let mut new = Vec::new();
    let mut put = |func: &mut Function, op: Op, args: &[Value], ty: Type| {
        let i = func.make_inst(block, op, args, &[ty]);
        new.push(i);
        func.insts[i].results[0]
    };
    // A condition that there is already gets a second part.
    let (what, condition) = match conditional(module, func, added, ty) {
        Some((_, (condition, is_opposite))) => {
            let args = &func.insts[func.def_inst(added).expect("a selection was found")].args;
            let what = args[if is_opposite { 2 } else { 1 }];
            let holds = match is_opposite {
                true => {
                    let all = func.int_const(1, 1);
                    put(func, Op::Binary(BinaryOp::Xor), &[condition, all], Type::BOOL)
                }
                false => condition,
            };
            (what, put(func, Op::Binary(BinaryOp::And), &[mask, holds], Type::BOOL))
        }
        None => (added, mask),
    };
    let chosen = put(func, Op::Select, &[condition, what, nothing], ty);
    for arg in func.insts[inst].args.iter_mut().filter(|arg| **arg == added) {
        *arg = chosen;
    }
    insert_before(func, inst, &new);
}

/// Returns what a lane was given where it is not active.
fn keep_where_inactive(func: &mut Function, member: usize, start: Value, mask: Value) {
    let ty = func.ty(start);
    for block in func.layout.clone() {
        let end = func.terminator(block);
        let (Op::Ret, &[whole]) = (&func.insts[end].op, &func.insts[end].args[..]) else { continue };
        let path: Box<[u32]> = [member as u32].into();
        let all = func.ty(whole);
        let is_alone = all == ty;
        let v = if is_alone {
            whole
        } else {
            func.append_value(block, Op::ExtractValue(path.clone()), &[whole], ty)
        };
        let mut kept = func.append_value(block, Op::Select, &[mask, v, start], ty);
        if !is_alone {
            kept = func.append_value(block, Op::InsertValue(path), &[whole, kept], all);
        }
        func.insts[end].args[0] = kept;
    }
}

fn insert_before(func: &mut Function, inst: Inst, new: &[Inst]) {
    let block = func.insts[inst].block;
    let insts = &mut func.blocks[block].insts;
    let at = insts.iter().position(|&i| i == inst).unwrap_or(insts.len());
    insts.splice(at..at, new.iter().copied());
}
