//! Strides that nobody knows before the loop runs.
//!
//! The loads of `x[i * incx]` are scalarized or gathers for whatever `incx`, and contiguous if that is 1, as callers
//! mostly have it. A loop can be vectorized for strides of 1 alone: that is tested before it, and with others it runs as it was.

use cranelift_entity::EntitySet;

use warpline_ir::{BinaryOp, Function, Op, Value};

use super::body::Body;
use super::carried::{Carried, Kind};
use super::find::Loop;
use super::inputs::Input;
use crate::dependences::Growth;

/// The numbers, the same in all iterations, by which what addresses are made of is multiplied or grows, in the order
/// of their uses.
pub(super) fn find(func: &Function, l: &Loop, carried: &[Carried]) -> Vec<Value> {
    let insts = func.layout.iter().filter(|&&b| l.blocks.contains(b)).flat_map(|&b| func.block_insts(b));
    let mut work: Vec<Value> = insts.filter_map(|i| Some(func.accessed(i)?.address)).collect();
    work.reverse();
    let (mut seen, mut found) = (EntitySet::new(), Vec::new());
    while let Some(v) = work.pop() {
        if l.is_invariant(func, v) || !seen.insert(v) {
            continue;
        }
        if let Some(stride) = step(carried, v).or_else(|| factor(func, l, v))
            && func.ty(stride).is_int()
            && func.constant(stride).is_none()
            && !found.contains(&stride)
        {
            found.push(stride);
        }
        let Some(i) = func.def_inst(v) else { continue };
        if matches!(func.insts[i].op, Op::Gep(_) | Op::Binary(_) | Op::Cast(_)) {
            work.extend(func.insts[i].args.iter().rev());
        }
    }
    found
}

/// What a number that the loop carries grows by.
fn step(carried: &[Carried], v: Value) -> Option<Value> {
    match carried.iter().find(|c| c.phi == v)?.kind {
        Kind::Induction { step: Growth::Value(by), .. } => Some(by),
        _ => None,
    }
}

/// What is the same in all iterations and something else is multiplied by, before it is extended.
fn factor(func: &Function, l: &Loop, v: Value) -> Option<Value> {
    let data = &func.insts[func.def_inst(v)?];
    let (Op::Binary(BinaryOp::Mul), &[a, b]) = (&data.op, &data.args[..]) else { return None };
    let before = |v: Value| {
        let inner = func.def_inst(v).filter(|&i| matches!(func.insts[i].op, Op::Cast(_)));
        let all = [Some(v), inner.map(|i| func.insts[i].args[0])];
        all.into_iter().flatten().find(|&v| l.is_invariant(func, v))
    };
    match (before(a), before(b)) {
        (None, Some(stride)) | (Some(stride), None) => Some(stride),
        _ => None,
    }
}

/// Takes what loops carry from one iteration to the next as what it is if these numbers are 1.
pub(super) fn assume_of_carried(carried: &mut [Carried], strides: &[Value]) {
    for c in carried {
        if let Kind::Induction { step, .. } = &mut c.kind
            && matches!(step, Growth::Value(by) if strides.contains(by))
        {
            *step = Growth::Constant(1);
        }
    }
}

/// Takes these numbers as 1 in an iteration.
pub(super) fn assume(body: &mut Body, strides: &[Value]) {
    for (at, input) in body.inputs.iter().enumerate() {
        let Input::Value(v) = *input else { continue };
        let param = body.func.params[at];
        if let Some(bits) = body.func.ty(param).int_bits().filter(|_| strides.contains(&v)) {
            let one = body.func.int_const(bits, 1);
            body.func.map_operands(|v| if v == param { one } else { v });
        }
    }
}
