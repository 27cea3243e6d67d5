//! Addresses of loads in loops that are left in the middle, computed in the width of pointers.
//!
//! `for (int i = 0; i < n; i++) { if (!ok(s[2 * i]) || !ok(s[2 * i + 1])) return -1; … }`: lanes look at iterations
//! that the program may never get to, in which `2 * i + 1` may wrap as an `int`. What the program loads from is the sum
//! in the width of pointers as well, for where it gets to nothing wraps. Of `while (n > 0 && s[n - 1] == ' ') n--` with
//! an unsigned `n`, it is the loop's test that says so.

use warpline_dataflow::conditions::{Holds, on_edge};
use warpline_dataflow::linear::{Address, Extension, Term};
use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, InstFlags, IntPred, Module, Op, Type, Value};

use super::find::{Loop, dominates};
use crate::dependences::Growth;

/// So many instructions compute an address from what the loop carries.
const MAX_DEPTH: u32 = 12;
const BITS: u32 = 64;

/// Computes such addresses of loads that are executed before it is known whether an iteration leaves the loop.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) {
    if l.breaks.is_empty() {
        return;
    }
    differ(module, func, l);
    read_as_signed(func, l);
    let early = |&&b: &&Block| l.own.contains(b) && l.is_before_last_break(func, b);
    let insts = func.layout.iter().filter(early).flat_map(|&b| func.block_insts(b));
    let loads = insts.filter_map(|i| match func.insts[i].op {
        Op::Load(_) if is_narrow(func, l, func.insts[i].args[0], MAX_DEPTH) => {
            Some((i, func.insts[i].args[0]))
        }
        _ => None,
    });
    let found: Vec<(Inst, Address)> = loads
        .filter_map(|(i, address)| Some((i, Address::of(module, func, address)?)))
        .filter(|(_, address)| is_wide(func, l, address))
        .collect();
    for (load, address) in found {
        func.insts[load].args[0] = computed(func, l, load, &address);
    }
}

/// Writes `x + (−1)` as `x − 1`, which does not wrap, where the loop goes on only if `x`, which its header carries, is
/// not 0.
fn differ(module: &Module, func: &mut Function, l: &Loop) {
    let stays = func.insts[l.test].edges[usize::from(!l.stays_if)];
    let behind = func.edges[stays].to;
    let is_alone = func.blocks[behind].preds.len() == 1;
    let of_header = |v: Value| l.position_of(func, v).is_some();
    let positive: Vec<Value> = on_edge(func, stays)
        .iter()
        .filter_map(|holds| match *holds {
            Holds::Compare(IntPred::Ne | IntPred::Ugt, x, y) if func.as_int(y) == Some(0) => Some(x),
            _ => None,
        })
        .filter(|&x| is_alone && of_header(x))
        .collect();
    let blocks = func.layout.iter().filter(|&&b| l.blocks.contains(b) && dominates(&l.dominators, behind, b));
    let falls = |i: Inst| match l.addition(module, func, i) {
        Some((x, Growth::Constant(-1), _)) if func.insts[i].op == Op::Binary(BinaryOp::Add) => Some((i, x)),
        _ => None,
    };
    let all = blocks.flat_map(|&b| func.block_insts(b)).filter_map(falls);
    let found: Vec<(Inst, Value)> = all.filter(|(_, x)| positive.contains(x)).collect();
    for (i, x) in found {
        let one = func.int_const(func.ty(x).int_bits().unwrap_or(BITS), 1);
        let data = &mut func.insts[i];
        data.op = Op::Binary(BinaryOp::Sub);
        data.args = [x, one].into_iter().collect();
        data.flags |= InstFlags::NUW;
    }
}

/// Extends by the sign, which is the same of what is not negative, what is computed by operations that do not wrap as
/// those of signed numbers.
fn read_as_signed(func: &mut Function, l: &Loop) {
    let is_signed = |v: Value| {
        func.def_inst(v).is_some_and(|i| {
            let exact = func.insts[i].flags & (InstFlags::NSW | InstFlags::NUW);
            matches!(func.insts[i].op, Op::Binary(_)) && exact == InstFlags::NSW
        })
    };
    let extends = |&i: &Inst| {
        let data = &func.insts[i];
        let is_zext = data.op == Op::Cast(CastOp::ZExt) && data.flags.contains(InstFlags::NNEG);
        is_zext && is_signed(data.args[0])
    };
    let blocks = func.layout.iter().filter(|&&b| l.blocks.contains(b));
    let found: Vec<Inst> = blocks.flat_map(|&b| func.block_insts(b)).filter(extends).collect();
    for i in found {
        func.insts[i].op = Op::Cast(CastOp::SExt);
        func.insts[i].flags -= InstFlags::NNEG;
    }
}

/// Whether sums and products of fewer bits than a pointer's lead to an address.
fn is_narrow(func: &Function, l: &Loop, v: Value, depth: u32) -> bool {
    let Some(i) = func.def_inst(v).filter(|_| depth > 0 && !l.is_invariant(func, v)) else { return false };
    match func.insts[i].op {
        Op::Binary(_) if func.ty(v) != Type::Int(BITS) => true,
        Op::Binary(_) | Op::Gep(_) | Op::Cast(CastOp::SExt | CastOp::ZExt) => {
            func.insts[i].args.iter().any(|&a| is_narrow(func, l, a, depth - 1))
        }
        _ => false,
    }
}

/// Whether an address consists of what stays the same and what the header's φs carry, without anything narrow between.
fn is_wide(func: &Function, l: &Loop, address: &Address) -> bool {
    let carried = |v: Value| l.is_invariant(func, v) || l.position_of(func, v).is_some();
    let extended = |t: &Term| match t.extension {
        Extension::None => func.ty(t.value) == Type::Int(BITS),
        Extension::Signed | Extension::Unsigned => matches!(func.ty(t.value), Type::Int(1..BITS)),
    };
    func.ty(address.root) == Type::PTR
        && carried(address.root)
        && address.terms.iter().all(|t| carried(t.value) && extended(t))
}

/// Computes an address before an instruction, and before the loop what of it stays the same.
fn computed(func: &mut Function, l: &Loop, before: Inst, address: &Address) -> Value {
    let (wide, none) = (Type::Int(BITS), InstFlags::empty());
    let mut sum = func.int_const(BITS, address.offset as u128);
    for term in &address.terms {
        let x = match term.extension {
            Extension::None => term.value,
            _ => {
                let op = if term.extension == Extension::Signed { CastOp::SExt } else { CastOp::ZExt };
                match l.is_invariant(func, term.value) {
                    true => func.append_value(l.preheader, Op::Cast(op), &[term.value], wide),
                    false => func.insert_value_before(before, Op::Cast(op), &[term.value], wide, none),
                }
            }
        };
        let scale = func.int_const(BITS, term.scale as u128);
        let mut put = |op: BinaryOp, x: Value, y: Value| {
            func.insert_value_before(before, Op::Binary(op), &[x, y], wide, none)
        };
        let x = if term.scale == 1 { x } else { put(BinaryOp::Mul, x, scale) };
        sum = put(BinaryOp::Add, sum, x);
    }
    func.insert_value_before(before, Op::Gep(Type::Int(8)), &[address.root, sum], Type::PTR, none)
}
