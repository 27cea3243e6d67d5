//! Loops that count down past zero: `for (size_t i = n - 1; i < n; i--)`.
//!
//! Behind 0 comes the greatest number, which is below none. So such a loop, if it is entered at all, has one iteration
//! more than its counter says at first. It gets a counter of its own, from 0 upwards, and its old one is the first number
//! less that: so it can be [seen](super::no_wrap) not to wrap.

use warpline_dataflow::conditions::{inverse, swapped};
use warpline_ir::{BinaryOp, Block, Function, InstFlags, IntPred, Module, Op, Type, Value};

use super::find::{Loop, dominates};
use super::two_ends::end;
use crate::dependences::Growth;

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
    let old = match l.position_of(func, counts) {
        Some(_) => counts,
        None => match l.addition(module, func, func.def_inst(counts)?)? {
            (old, Growth::Constant(_), _) => old,
            _ => return None,
        },
    };
    // Where the loop is left at once, it may be poison.
    let start = func.append_value(l.preheader, Op::Freeze, &[falls.start], ty);
    let [offset, zero, one] = [falls.offset as u128, 0, 1].map(|n| func.int_const(bits, n));
    let first = func.append_value(l.preheader, Op::Binary(BinaryOp::Add), &[start, offset], ty);
    let enters = func.append_value(l.preheader, Op::ICmp(IntPred::Ult), &[first, bound], Type::BOOL);
    let all = func.append_value(l.preheader, Op::Binary(BinaryOp::Add), &[first, one], ty);
    let rounds = func.append_value(l.preheader, Op::Select, &[enters, all, zero], ty);

    let counter = func.add_phi(l.header, ty);
    let now = func.make_inst(l.header, Op::Binary(BinaryOp::Sub), &[start, counter], &[ty]);
    let next = func.make_inst(l.header, Op::Binary(BinaryOp::Add), &[counter, one], &[ty]);
    func.insts[next].flags = InstFlags::NUW;
    func.blocks[l.header].insts.splice(0..0, [now, next]);
    let (now, next) = (func.insts[now].results[0], func.insts[next].results[0]);
    l.hand_on(func, counter, zero, next);
    func.map_operands(|v| if v == old { now } else { v });
    let old = func.def_inst(old);
    func.retain_phis(l.header, |phi| Some(phi) != old);
    let pred = if l.stays_if { IntPred::Ult } else { IntPred::Uge };
    let test =
        func.insert_value_before(l.test, Op::ICmp(pred), &[counter, rounds], Type::BOOL, InstFlags::empty());
    func.insts[l.test].args[0] = test;
    // What has been compared is the old counter itself or computed from it.
    let compared = if old == func.def_inst(counts) { now } else { counts };
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
    let exact = func.insts[difference].results[0];
    let blocks: Vec<Block> =
        func.layout.iter().copied().filter(|&b| dominates(&l.dominators, behind, b)).collect();
    for b in blocks {
        for i in func.block_insts(b).collect::<Vec<_>>() {
            func.insts[i].args.iter_mut().filter(|v| **v == compared).for_each(|v| *v = exact);
        }
        for e in func.out_edges(b).to_vec() {
            func.edges[e].args.iter_mut().filter(|v| **v == compared).for_each(|v| *v = exact);
        }
    }
    func.blocks[behind].insts.insert(0, difference);
}
