//! What the test of a loop decides of values that are computed before it.
//!
//! Rust's iterators count on only where they yield something: of `zip` comes
//!
//! ```text
//!   more = i < n;  next = i + (more ? 1 : 0);  if (!more) break;  …  i = next;
//! ```
//!
//! Behind the test, `next` is `i + 1`, an induction.

use std::collections::HashMap;

use warpline_dataflow::conditions::{Holds, on_edge};
use warpline_ir::{Block, CastOp, Function, Inst, Op, Type, Value};

use super::find::{Loop, dominates};

/// Makes a block on the way from the test into the loop if there is none that only the test leads to, as before a loop
/// within, and something depends on what the test decides: whether it did.
pub(super) fn make_room(func: &mut Function, l: &Loop) -> bool {
    let goes_on = func.insts[l.test].edges[usize::from(!l.stays_if)];
    let stays = func.edges[goes_on].to;
    if func.blocks[stays].preds.len() == 1 || !l.blocks.contains(stays) || stays == l.header {
        return false;
    }
    let condition = func.insts[l.test].args[0];
    let chosen_by = |i: Inst| {
        matches!(func.insts[i].op, Op::Select | Op::Cast(CastOp::ZExt)) && func.insts[i].args[0] == condition
    };
    let within = || func.layout.iter().copied().filter(|&b| l.blocks.contains(b));
    let depends = within().flat_map(|b| func.block_insts(b)).any(chosen_by);
    if depends {
        func.split_edge(goes_on, "goes_on");
    }
    depends
}

/// Gives what depends on the test of a loop its value where the test has let the loop go on.
pub(super) fn settle(func: &mut Function, l: &Loop) {
    let goes_on = func.insts[l.test].edges[usize::from(!l.stays_if)];
    let stays = func.edges[goes_on].to;
    if func.blocks[stays].preds.len() != 1 {
        return;
    }
    let known: HashMap<Value, bool> = on_edge(func, goes_on).into_iter().filter_map(is_bool(func)).collect();
    let within = || func.layout.iter().copied().filter(|&b| l.blocks.contains(b));
    let (behind, others): (Vec<Block>, Vec<Block>) =
        within().partition(|&b| dominates(&l.dominators, stays, b));
    let before = others.into_iter().filter(|&b| dominates(&l.dominators, b, stays));
    let computed: Vec<Inst> = before.flat_map(|b| func.block_insts(b)).collect();
    let mut settled = HashMap::new();
    let mut made = Vec::new();
    for i in computed {
        if let Some((old, new)) = decided(func, i, &known, &settled) {
            settled.insert(old, new);
        } else if let Some((old, copy)) = computed_anew(func, i, stays, &settled) {
            settled.insert(old, func.insts[copy].results[0]);
            made.push(copy);
        }
    }
    for &b in &behind {
        for i in func.block_insts(b).collect::<Vec<Inst>>() {
            settled.extend(decided(func, i, &known, &settled));
        }
    }
    for &b in &behind {
        replace_in(func, b, &settled);
    }
    func.blocks[stays].insts.splice(0..0, made);
}

/// The conditions among what is known.
fn is_bool(func: &Function) -> impl Fn(Holds) -> Option<(Value, bool)> + '_ {
    |holds| match holds {
        Holds::Is(value, is) if func.ty(value) == Type::BOOL => Some((value, is != 0)),
        _ => None,
    }
}

/// A value that is chosen by a condition, and what it is where that is known.
fn decided(
    func: &mut Function,
    i: Inst,
    known: &HashMap<Value, bool>,
    settled: &HashMap<Value, Value>,
) -> Option<(Value, Value)> {
    let now = |v: Value| *settled.get(&v).unwrap_or(&v);
    let data = &func.insts[i];
    let (result, condition) = (data.result()?, now(*data.args.first()?));
    let holds = known.get(&condition).copied().or_else(|| Some(func.as_int(condition)? != 0));
    match (&data.op, func.ty(result).int_bits()) {
        (Op::Select, _) => Some((result, now(data.args[if holds? { 1 } else { 2 }]))),
        (Op::Cast(CastOp::ZExt), Some(bits)) if func.ty(condition) == Type::BOOL => {
            Some((result, func.int_const(bits, holds?.into())))
        }
        _ => None,
    }
}

/// Arithmetic on what is settled, made once more for another block, in which it is not put.
fn computed_anew(
    func: &mut Function,
    i: Inst,
    block: Block,
    settled: &HashMap<Value, Value>,
) -> Option<(Value, Inst)> {
    let data = &func.insts[i];
    let result = data.result()?;
    let plain = match data.op {
        Op::Binary(op) => !op.is_int_division(),
        Op::Cast(_) | Op::Gep(_) => true,
        _ => false,
    };
    if !plain || !data.args.iter().any(|a| settled.contains_key(a)) {
        return None;
    }
    let (op, flags, loc) = (data.op.clone(), data.flags, data.loc);
    let args: Vec<Value> = data.args.iter().map(|a| *settled.get(a).unwrap_or(a)).collect();
    let ty = func.ty(result);
    let copy = func.make_inst(block, op, &args, &[ty]);
    (func.insts[copy].flags, func.insts[copy].loc) = (flags, loc);
    Some((result, copy))
}

/// Puts other values in the place of some in a block and on the edges from it.
pub(super) fn replace_in(func: &mut Function, block: Block, settled: &HashMap<Value, Value>) {
    let new = |arg: &mut Value| *arg = *settled.get(arg).unwrap_or(arg);
    for i in func.block_insts(block).collect::<Vec<Inst>>() {
        func.insts[i].args.iter_mut().for_each(new);
    }
    for e in func.out_edges(block).to_vec() {
        func.edges[e].args.iter_mut().for_each(new);
    }
}
