//! Loops that count.

use warpline_analysis::CycleForest;

use crate::clients::constants::fold::compare;
use warpline_ir::{BinaryOp, Function, InstFlags, IntPred, Op, Value};

/// A φ at the head of a loop that grows by a constant in every iteration, modulo its width.
#[derive(Copy, Clone, Debug)]
pub struct Counter {
    /// What it begins with.
    pub start: Value,
    /// What it is in the next iteration.
    pub next: Value,
    /// What is added.
    pub step: i64,
    /// What is known of the addition, if it is one.
    pub flags: InstFlags,
    /// Its width.
    pub bits: u32,
}

impl Counter {
    /// The counter that a value is. `None` if it is no φ of a reducible loop's header that grows by a constant.
    pub fn of(func: &Function, cycles: &CycleForest, v: Value) -> Option<Counter> {
        let phi = func.def_inst(v).filter(|&i| func.insts[i].op == Op::Phi)?;
        let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64)?;
        let header = func.insts[phi].block;
        let cycle = cycles.innermost(header.into())?;
        if cycles.header(cycle) != header.into() || !cycles.is_reducible(cycle) {
            return None;
        }
        let position = func.phi_position(phi)?;
        let (mut start, mut next) = (None, None);
        for &e in &func.blocks[header].preds {
            let inside = cycles.contains(cycle, func.edges[e].from.into());
            let side = if inside { &mut next } else { &mut start };
            let arg = func.edges[e].args[position];
            if side.is_some_and(|v| v != arg) {
                return None;
            }
            *side = Some(arg);
        }
        let (start, next) = (start?, next?);
        let (from, step, flags) = addition(func, next)?;
        (from == v).then_some(Counter { start, next, step, flags, bits })
    }
}

/// What a value is a constant more than: that, the constant, and what is known of the addition.
pub fn addition(func: &Function, v: Value) -> Option<(Value, i64, InstFlags)> {
    let bits = func.ty(v).int_bits().filter(|&bits| bits <= 64)?;
    let data = &func.insts[func.def_inst(v)?];
    let by = func.as_int(*data.args.get(1)?)? as i64;
    let signed = |n: i64| n << (64 - bits) >> (64 - bits);
    match data.op {
        Op::Binary(BinaryOp::Add) => Some((data.args[0], signed(by), data.flags)),
        // Flags of a subtraction say something else.
        Op::Binary(BinaryOp::Sub) => Some((data.args[0], signed(by.wrapping_neg()), InstFlags::empty())),
        _ => None,
    }
}

/// For how many *k* from 0 on `from + k · step pred to` holds, numbers of so many bits. `None` if it holds until a
/// number wraps, or always.
pub fn rounds(pred: IntPred, from: u128, step: i64, to: u128, bits: u32) -> Option<u64> {
    if !compare(pred, bits, from, to) {
        return Some(0);
    }
    let by = i128::from(step.unsigned_abs());
    let up = step > 0;
    let mask = (1u128 << bits) - 1;
    let inclusive = match pred {
        IntPred::Eq => return (step != 0).then_some(1),
        IntPred::Ne => {
            let distance = if up { to.wrapping_sub(from) } else { from.wrapping_sub(to) } & mask;
            let distance = distance as i128;
            return (by != 0 && distance % by == 0).then(|| u64::try_from(distance / by).ok())?;
        }
        IntPred::Slt | IntPred::Ult if up => 0,
        IntPred::Sle | IntPred::Ule if up => 1,
        IntPred::Sgt | IntPred::Ugt if step < 0 => 0,
        IntPred::Sge | IntPred::Uge if step < 0 => 1,
        _ => return None,
    };
    let signed = matches!(pred, IntPred::Slt | IntPred::Sle | IntPred::Sgt | IntPred::Sge);
    let read =
        |n: u128| if signed { (n << (128 - bits)) as i128 >> (128 - bits) } else { (n & mask) as i128 };
    let (from, to) = (read(from), read(to));
    let distance = if up { to - from } else { from - to } + inclusive;
    let rounds = (distance + by - 1) / by;
    let (least, most) =
        if signed { (-(1i128 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, mask as i128) };
    let ends = from + rounds * i128::from(step);
    (least..=most).contains(&ends).then(|| u64::try_from(rounds).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first *k* for which the comparison fails, found by counting.
    fn counted(pred: IntPred, from: u128, step: i64, to: u128, bits: u32) -> Option<u64> {
        let value =
            |k: u64| from.wrapping_add((i128::from(step) * i128::from(k)) as u128) & ((1 << bits) - 1);
        (0..1 << bits).find(|&k| !compare(pred, bits, value(k), to))
    }

    #[test]
    fn rounds_are_those_that_are_counted() {
        use IntPred::*;
        for pred in [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge] {
            for (from, to) in (0..32).flat_map(|from| (0..32).map(move |to| (from, to))) {
                for step in -5..=5 {
                    if let Some(n) = rounds(pred, from, step, to, 5) {
                        let found = counted(pred, from, step, to, 5);
                        assert_eq!(found, Some(n), "{from} + k · {step} {pred:?} {to}");
                    }
                }
            }
        }
    }

    #[test]
    fn ordinary_loops_are_counted() {
        assert_eq!(rounds(IntPred::Slt, 0, 1, 100, 32), Some(100));
        assert_eq!(rounds(IntPred::Ult, 1, 3, 11, 8), Some(4));
        assert_eq!(rounds(IntPred::Sge, 10, -2, 1, 32), Some(5));
        assert_eq!(rounds(IntPred::Ne, 250, 1, 3, 8), Some(9));
        assert_eq!(rounds(IntPred::Ne, 0, 2, 7, 8), None);
        assert_eq!(rounds(IntPred::Sle, 0, 1, 127, 8), None);
    }
}
