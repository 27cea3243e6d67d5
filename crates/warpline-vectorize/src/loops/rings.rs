//! Numbers that go around: `at = (at + 1) & 1023`, `at = (at + 1) % 1024`, `if (++at == 1024) at = 0`.
//!
//! Each iteration has the next number, and after the greatest one, one less than a power of two, comes 0. In lane *l*
//! that is `(at + l·step) & mask`, however often it has gone around. It holds if the first number is one of them, which
//! is checked before the loop.

use warpline_ir::{BinaryOp, Function, IntPred, Op, Value};

use super::find::Loop;
use crate::choices::MAX_WIDTH;

/// How a number goes around.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Ring {
    /// What is added in each iteration.
    pub(super) step: i128,
    /// The greatest number.
    pub(super) mask: u128,
}

impl Ring {
    /// How a φ of a loop's header goes around, if it does: what it becomes is computed from nothing else.
    pub(super) fn of(func: &Function, l: &Loop, phi: Value, next: Value) -> Option<Ring> {
        let bits = func.ty(phi).int_bits().filter(|bits| (8..=64).contains(bits))?;
        let data = &func.insts[func.def_inst(next).filter(|_| !l.is_invariant(func, next))?];
        let ring = match (&data.op, &data.args[..]) {
            (Op::Binary(BinaryOp::And), &[sum, mask]) => {
                Ring { step: added(func, phi, sum)?, mask: func.as_int(mask)? }
            }
            // Of natural numbers only; those below the greatest one do not wrap.
            (Op::Binary(BinaryOp::SRem | BinaryOp::URem), &[sum, size]) => {
                let step = added(func, phi, sum).filter(|&step| step < 1 << (bits - 2))?;
                Ring { step, mask: func.as_int(size)?.checked_sub(1)? }
            }
            (Op::Select, &[asked, yes, no]) => {
                let Asked { compared, least, begins } = Asked::of(func, asked)?;
                let (anew, goes_on) = if begins { (yes, no) } else { (no, yes) };
                let by_one = added(func, phi, goes_on) == Some(1) && func.as_int(anew) == Some(0);
                let mask = match compared {
                    _ if compared == goes_on => least.checked_sub(1)?,
                    _ if compared == phi => least,
                    _ => return None,
                };
                by_one.then_some(Ring { step: 1, mask })?
            }
            _ => return None,
        };
        let is_round = (ring.mask + 1).is_power_of_two() && ring.mask < 1 << (bits - 2);
        (is_round && ring.mask >= MAX_WIDTH.into()).then_some(ring)
    }

    /// Whether a first number is known to be one of those that are gone around.
    pub(super) fn has(&self, func: &Function, start: Value) -> bool {
        let is_masked = func.def_inst(start).is_some_and(|i| {
            let data = &func.insts[i];
            let mask = data.args.get(1).and_then(|&mask| func.as_int(mask));
            data.op == Op::Binary(BinaryOp::And) && mask.is_some_and(|mask| mask <= self.mask)
        });
        is_masked || func.as_int(start).is_some_and(|start| start <= self.mask)
    }
}

/// A comparison of natural numbers with a constant.
struct Asked {
    compared: Value,
    /// The least number of which the answer is another one than of those below.
    least: u128,
    /// What the answer is then.
    begins: bool,
}

impl Asked {
    fn of(func: &Function, asked: Value) -> Option<Asked> {
        let data = &func.insts[func.def_inst(asked)?];
        let (Op::ICmp(pred), &[compared, size]) = (&data.op, &data.args[..]) else { return None };
        let size = func.as_int(size)?;
        let (begins, least) = match pred {
            IntPred::Eq | IntPred::Sge | IntPred::Uge => (true, size),
            IntPred::Ne | IntPred::Slt | IntPred::Ult => (false, size),
            IntPred::Sgt | IntPred::Ugt => (true, size.checked_add(1)?),
            IntPred::Sle | IntPred::Ule => (false, size.checked_add(1)?),
        };
        Some(Asked { compared, least, begins })
    }
}

/// What constant a sum adds to a value.
fn added(func: &Function, to: Value, sum: Value) -> Option<i128> {
    let data = &func.insts[func.def_inst(sum)?];
    match (&data.op, &data.args[..]) {
        (Op::Binary(BinaryOp::Add), &[a, b]) if a == to => func.as_int(b).map(u128::cast_signed),
        _ => None,
    }
}
