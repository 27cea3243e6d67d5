//! Loops that count down past zero: `for (size_t i = n - 1; i < n; i--)`.
//!
//! Behind 0 comes the greatest number, which is below none. So such a loop goes on until its counter is that, if it is
//! entered at all: a comparison that tells how many iterations there are.

use warpline_dataflow::conditions::{inverse, swapped};
use warpline_ir::{Function, InstFlags, IntPred, Module, Op, Type};

use super::find::Loop;
use crate::dependences::Growth;

/// Gives a loop that goes on while an unsigned number that falls by 1 is below a bound a test for where it ends.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) -> Option<()> {
    let compared = func.def_inst(func.insts[l.test].args[0]).filter(|_| func.insts[l.test].block == l.header)?;
    let (&Op::ICmp(pred), &[a, b]) = (&func.insts[compared].op, &func.insts[compared].args[..]) else {
        return None;
    };
    let pred = if l.stays_if { pred } else { inverse(pred) };
    let (counter, bound) = match (pred, swapped(pred)) {
        (IntPred::Ult, _) => (a, b),
        (_, IntPred::Ult) => (b, a),
        _ => return None,
    };
    let (position, step) = l.induction(module, func, counter)?;
    let (ty, into) = (func.ty(counter), func.out_edges(l.preheader)[0]);
    let bits = ty.int_bits().filter(|&bits| bits <= 64 && l.is_invariant(func, bound))?;
    if step != Growth::Constant(-1) {
        return None;
    }
    let start = func.edges[into].args[position];
    let greatest = func.int_const(bits, u128::MAX >> (128 - bits));
    let enters = func.append_value(l.preheader, Op::ICmp(IntPred::Ult), &[start, bound], Type::BOOL);
    let end = func.append_value(l.preheader, Op::Select, &[enters, greatest, start], ty);
    let pred = if l.stays_if { IntPred::Ne } else { IntPred::Eq };
    let test = func.insert_value_before(compared, Op::ICmp(pred), &[counter, end], Type::BOOL, InstFlags::empty());
    func.insts[l.test].args[0] = test;
    Some(())
}
