//! Values that every second iteration has alike, as `sign = -sign` or `k = 1 - k` makes them.
//!
//! What undoes itself when it is done twice is known from the parity of an iteration's number: the start in even
//! ones, what becomes of that in odd ones. The number is an induction, and the value one of two that are known before
//! the loop.

use warpline_ir::{BinaryOp, CastOp, Function, Inst, InstFlags, Op, Type, Value};

use super::find::Loop;

/// Computes φs of a loop that alternate between two values from the number of the iteration.
pub(super) fn settle(func: &mut Function, l: &Loop) {
    let alternating: Vec<Inst> =
        func.blocks[l.header].phis.iter().copied().filter(|&phi| step_of(func, l, phi).is_some()).collect();
    if alternating.is_empty() {
        return;
    }
    let parity = add_parity(func, l);
    let entering = func.out_edges(l.preheader)[0];
    for &phi in &alternating {
        let (Some(step), Some(position)) = (step_of(func, l, phi), func.phi_position(phi)) else { continue };
        let value = func.insts[phi].results[0];
        let ty = func.ty(value);
        let even = func.edges[entering].args[position];
        let data = &func.insts[step];
        let (op, flags) = (data.op.clone(), data.flags & InstFlags::FAST);
        let args: Vec<Value> = data.args.iter().map(|&a| if a == value { even } else { a }).collect();
        let odd = func.append(l.preheader, op, &args, ty);
        func.insts[odd].flags = flags;
        let odd = func.insts[odd].results[0];
        let chosen = func.make_inst(l.header, Op::Select, &[parity, odd, even], &[ty]);
        // Behind the parity.
        func.blocks[l.header].insts.insert(1, chosen);
        let chosen = func.insts[chosen].results[0];
        func.map_operands(|v| if v == value { chosen } else { v });
    }
    func.retain_phis(l.header, |phi| !alternating.contains(&phi));
}

/// What computes the next value of a φ, if that computes this one from the next.
fn step_of(func: &Function, l: &Loop, phi: Inst) -> Option<Inst> {
    let value = func.insts[phi].results[0];
    let next = func.edges[l.back].args[func.phi_position(phi)?];
    let step = func.def_inst(next)?;
    let data = &func.insts[step];
    let fixed = |v: Value| l.is_invariant(func, v);
    let undone = match (&data.op, &data.args[..]) {
        (Op::Binary(BinaryOp::Xor), &[a, b]) => a == value && fixed(b) || b == value && fixed(a),
        (Op::Binary(BinaryOp::Sub), &[a, b]) => b == value && fixed(a),
        (Op::FNeg, &[a]) => a == value,
        _ => false,
    };
    undone.then_some(step)
}

/// Whether the number of the iteration is odd, computed in the header from a φ that is added.
fn add_parity(func: &mut Function, l: &Loop) -> Value {
    let ty = Type::Int(32);
    let number = func.add_phi(l.header, ty);
    let [zero, one] = [0, 1].map(|n| func.int_const(32, n));
    let latch = func.edges[l.back].from;
    let next = func.append_value(latch, Op::Binary(BinaryOp::Add), &[number, one], ty);
    l.hand_on(func, number, zero, next);
    let odd = func.make_inst(l.header, Op::Cast(CastOp::Trunc), &[number], &[Type::BOOL]);
    func.blocks[l.header].insts.insert(0, odd);
    func.insts[odd].results[0]
}
