//! Loops that count down past zero: `for (size_t i = n - 1; i < n; i--)`.
//!
//! Behind 0 comes the greatest number, which is below none. So such a loop, if it is entered at all, has one iteration
//! more than its counter says at first. It gets a counter of its own, from 0 upwards, and its old one is the first
//! number less that: so it can be [seen](super::no_wrap) not to wrap.

use std::collections::HashMap;

use warpline_dataflow::conditions::{inverse, swapped};
use warpline_ir::{BinaryOp, Function, InstFlags, IntPred, Module, Op, Type, Value};

use super::decided;
use super::find::{Loop, dominates};
use super::two_ends::{count_to, end};

/// Gives a loop that goes on while an unsigned number that falls by 1 is below a bound a counter of its iterations.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) -> Option<()> {
    let compared =
        func.def_inst(func.insts[l.test].args[0]).filter(|_| func.insts[l.test].block == l.header)?;
    let (&Op::ICmp(pred), &[a, b]) = (&func.insts[compared].op, &func.insts[compared].args[..]) else {
        return None;
    };
    let pred = if l.stays_if { pred } else { inverse(pred) };
    let (counts, bound) = match (pred, swapped(pred)) {
        (IntPred::Ult, _) => (a, b),
        (_, IntPred::Ult) => (b, a),
        _ => return None,
    };
    let ty = func.ty(counts);
    let bits = ty.int_bits().filter(|&bits| bits <= 64 && l.is_invariant(func, bound))?;
    let falls = end(module, func, l, counts).filter(|falls| falls.step == -1)?;
    let (start, first) = falls.first(func, l);
    let [zero, one] = [0, 1].map(|n| func.int_const(bits, n));
    let enters = func.append_value(l.preheader, Op::ICmp(IntPred::Ult), &[first, bound], Type::BOOL);
    let all = func.append_value(l.preheader, Op::Binary(BinaryOp::Add), &[first, one], ty);
    let rounds = func.append_value(l.preheader, Op::Select, &[enters, all, zero], ty);

    let counter = count_to(func, l, rounds, InstFlags::NUW);
    let now = func.make_inst(l.header, Op::Binary(BinaryOp::Sub), &[start, counter], &[ty]);
    func.blocks[l.header].insts.insert(0, now);
    let now = func.insts[now].results[0];
    func.map_operands(|v| if v == falls.phi { now } else { v });
    let old = func.def_inst(falls.phi);
    func.retain_phis(l.header, |phi| Some(phi) != old);
    // What has been compared is the old counter itself or computed from it.
    let compared = if falls.phi == counts { now } else { counts };
    stays_positive(func, l, compared, (first, counter));
    Some(())
}

/// Has the blocks behind the test use a difference that says that it does not wrap.
fn stays_positive(func: &mut Function, l: &Loop, compared: Value, (first, counter): (Value, Value)) {
    let behind = func.edges[func.insts[l.test].edges[usize::from(!l.stays_if)]].to;
    if func.blocks[behind].preds.len() != 1 || behind == l.header {
        return;
    }
    let difference =
        func.make_inst(behind, Op::Binary(BinaryOp::Sub), &[first, counter], &[func.ty(counter)]);
    func.insts[difference].flags = InstFlags::NUW;
    let exact = HashMap::from([(compared, func.insts[difference].results[0])]);
    for b in func.layout.clone().into_iter().filter(|&b| dominates(&l.dominators, behind, b)) {
        decided::replace_in(func, b, &exact);
    }
    func.blocks[behind].insts.insert(0, difference);
}
