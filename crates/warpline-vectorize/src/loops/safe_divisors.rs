//! Remainders and quotients by what stays the same, in loops that are left in the middle.
//!
//! `for (i = 0; i < n; i++) if (f(x[i], x[(i + 1) % n])) break;`: lanes look at iterations that the program may never
//! get to, and a division by 0, or of the least number by −1, is undefined. By which number is divided is known before
//! the loop. There the ones that would be undefined become 1: an iteration that the program gets to does not divide by
//! 0, and what a remainder by −1 leaves is 0, as by 1. Quotients of signed numbers stay as they are.

use warpline_ir::{BinaryOp, Block, Function, Inst, IntPred, Op, Type, Value};

use super::find::Loop;

/// Has what is divided before it is known whether an iteration leaves the loop divided by numbers that may divide
/// anything.
pub(super) fn settle(func: &mut Function, l: &Loop) {
    let early = |&&b: &&Block| l.blocks.contains(b) && l.is_before_last_break(func, b);
    let insts = func.layout.iter().filter(early).flat_map(|&b| func.block_insts(b));
    let divides = |&i: &Inst| {
        let data = &func.insts[i];
        matches!(data.op, Op::Binary(BinaryOp::UDiv | BinaryOp::URem | BinaryOp::SRem))
            && func.as_int(data.args[1]).is_none()
            && matches!(func.ty(data.args[1]), Type::Int(8..=64))
            && l.is_invariant(func, data.args[1])
    };
    let all: Vec<Inst> = insts.filter(divides).collect();
    for i in all {
        let (op, by) = (func.insts[i].op.clone(), func.insts[i].args[1]);
        func.insts[i].args[1] = safe(func, l.preheader, by, op == Op::Binary(BinaryOp::SRem));
    }
}

/// A number, or 1 if it is 0, or −1 among signed ones, at the end of a block.
fn safe(func: &mut Function, at: Block, by: Value, is_signed: bool) -> Value {
    let ty = func.ty(by);
    let bits = ty.int_bits().unwrap_or(64);
    let [zero, one, all] = [0, 1, u128::MAX >> (128 - bits)].map(|n| func.int_const(bits, n));
    let mut put = |op: Op, args: &[Value], ty: Type| func.append_value(at, op, args, ty);
    // In a loop without an iteration, it may be poison.
    let by = put(Op::Freeze, &[by], ty);
    let mut undefined = put(Op::ICmp(IntPred::Eq), &[by, zero], Type::BOOL);
    if is_signed {
        let negates = put(Op::ICmp(IntPred::Eq), &[by, all], Type::BOOL);
        undefined = put(Op::Binary(BinaryOp::Or), &[undefined, negates], Type::BOOL);
    }
    put(Op::Select, &[undefined, one, by], ty)
}

/// Whether an instruction divides integers by a number with a result for whatever it divides: a constant, or one that
/// was made so.
pub(super) fn divides_safely(func: &Function, i: Inst) -> bool {
    let data = &func.insts[i];
    let Op::Binary(op) = data.op else { return false };
    if matches!(op, BinaryOp::UDiv | BinaryOp::URem | BinaryOp::SRem)
        && is_safe(func, data.args[1], op == BinaryOp::SRem)
    {
        return true;
    }
    let Some(by) = op.is_int_division().then(|| func.as_int(data.args[1])).flatten() else { return false };
    let bits = func.ty(data.args[1]).int_bits().unwrap_or(128);
    let all = u128::MAX >> (128 - bits.min(128));
    by != 0 && (matches!(op, BinaryOp::UDiv | BinaryOp::URem) || by != all)
}

/// Whether a value is one that [`settle`] has made, so that it may divide any number, a signed one or not.
fn is_safe(func: &Function, by: Value, is_signed: bool) -> bool {
    let inst = |v: Value| func.def_inst(v).map(|i| &func.insts[i]);
    let Some(data) = inst(by).filter(|data| data.op == Op::Select && func.as_int(data.args[1]) == Some(1))
    else {
        return false;
    };
    let is = |v: Value, number: u128| {
        let test = inst(v).filter(|test| test.op == Op::ICmp(IntPred::Eq) && test.args[0] == data.args[2]);
        test.is_some_and(|test| func.as_int(test.args[1]) == Some(number))
    };
    let is_frozen = inst(data.args[2]).is_some_and(|data| data.op == Op::Freeze);
    let all = u128::MAX >> (128 - func.ty(by).int_bits().unwrap_or(128));
    is_frozen
        && match inst(data.args[0]) {
            Some(both) if is_signed && both.op == Op::Binary(BinaryOp::Or) => {
                is(both.args[0], 0) && is(both.args[1], all)
            }
            _ => !is_signed && is(data.args[0], 0),
        }
}
