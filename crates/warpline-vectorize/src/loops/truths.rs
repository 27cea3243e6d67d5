//! Truth values, and numbers that are 0 or 1 or change their sign, as iterations change them.
//!
//! ```c
//! ok = ok && x[i] > 0;       // and, once it is computed whether the rest holds
//! if (c[i]) odd = !odd;      // exclusive or with 1
//! if (c[i]) sign = -sign;    // times -1
//! ```
//!
//! Written as what they are, these are [reductions](super::carried). What `&&` does not look at may be poison, so it
//! is frozen.

use warpline_ir::{BinaryOp, CastOp, Function, InstFlags, IntPred, Module, Op, Type, Value};

use super::carried::Dependent;
use super::find::Loop;
use super::states::Bit;
use crate::unused;

/// Rewrites what φs of a loop's header become.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) {
    for phi in func.blocks[l.header].phis.clone() {
        let value = func.insts[phi].results[0];
        let Type::Int(bits) = func.ty(value) else { continue };
        let Some(position) = func.phi_position(phi) else { continue };
        let users = l.users(func);
        let dependent = Dependent::of(func, &users, value);
        match bits {
            1 => conjunctions(func, &dependent),
            2..=64 => {
                if Bit::of(func, l, position).is_some() {
                    negations(func, l, value, &dependent);
                }
                signs(func, &dependent);
            }
            _ => {}
        }
    }
    // The comparison of what is negated.
    unused::remove(module, func, &[]);
}

/// `a && b` and `a || b` of what depends on a truth value and what does not.
fn conjunctions(func: &mut Function, dependent: &Dependent) {
    for &i in &dependent.insts {
        let data = &func.insts[i];
        let (Op::Select, &[asked, yes, no]) = (&data.op, &data.args[..]) else { continue };
        if func.ty(yes) != Type::BOOL || !dependent.values.contains(asked) {
            continue;
        }
        let (op, other) = match (func.as_int(yes), func.as_int(no)) {
            (_, Some(0)) => (BinaryOp::And, yes),
            (Some(1), _) => (BinaryOp::Or, no),
            _ => continue,
        };
        if dependent.values.contains(other) {
            continue;
        }
        let other = func.insert_value_before(i, Op::Freeze, &[other], Type::BOOL, InstFlags::empty());
        let data = &mut func.insts[i];
        data.op = Op::Binary(op);
        data.args = [asked, other].into_iter().collect();
        data.flags = InstFlags::empty();
    }
}

/// `!x` of numbers that are 0 or 1, where they depend on a φ that is.
fn negations(func: &mut Function, l: &Loop, phi: Value, dependent: &Dependent) {
    for &i in &dependent.insts {
        let data = &func.insts[i];
        let Op::Cast(CastOp::ZExt) = data.op else { continue };
        let Some(asks) = func.def_inst(data.args[0]) else { continue };
        let (Op::ICmp(IntPred::Eq), &[of, zero]) = (&func.insts[asks].op, &func.insts[asks].args[..]) else {
            continue;
        };
        let fits = data.result().is_some_and(|v| func.ty(v) == func.ty(of)) && func.as_int(zero) == Some(0);
        if fits && dependent.values.contains(of) && Bit::new(func, l, phi).is_bit(of) {
            let bits = func.ty(of).int_bits().unwrap_or(1);
            let one = func.int_const(bits, 1);
            let data = &mut func.insts[i];
            data.op = Op::Binary(BinaryOp::Xor);
            data.args = [of, one].into_iter().collect();
            data.flags = InstFlags::empty();
        }
    }
}

/// `-x` of integers.
fn signs(func: &mut Function, dependent: &Dependent) {
    for &i in &dependent.insts {
        let data = &func.insts[i];
        let (Op::Binary(BinaryOp::Sub), &[zero, of]) = (&data.op, &data.args[..]) else { continue };
        if func.as_int(zero) == Some(0) && dependent.values.contains(of) {
            let bits = func.ty(of).int_bits().unwrap_or(1);
            let minus = func.int_const(bits, u128::MAX >> (128 - bits));
            let data = &mut func.insts[i];
            data.op = Op::Binary(BinaryOp::Mul);
            data.args = [of, minus].into_iter().collect();
            data.flags = InstFlags::empty();
        }
    }
}
