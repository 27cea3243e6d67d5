//! Loops that go on until two counters meet:
//!
//! ```text
//! for (i = 0, j = n - 1; i < j; i++, j--) { t = a[i]; a[i] = a[j]; a[j] = t; }
//! ```
//!
//! The distance of both shrinks by the same number in each iteration, so how many there are is known before the loop.
//! The test becomes one of a counter of its own with that number; both others stay the inductions that they are.
//!
//! That needs counters that do not wrap before they meet: they say so by flags, or move by 1 each. Then from `i < j`
//! follows that `i + 1` and `j - 1` are numbers between both.

use warpline_dataflow::conditions::{inverse, swapped};
use warpline_ir::{BinaryOp, CastOp, Function, InstFlags, IntPred, Module, Op, Type, Value};

use super::find::Loop;
use crate::dependences::Growth;

/// One of two values that are compared: a φ of the header, or that and a number.
pub(super) struct End {
    pub(super) phi: Value,
    /// The first number that is compared is the φ's first one and this.
    start: Value,
    offset: i128,
    pub(super) step: i128,
    /// What is promised of the additions.
    flags: InstFlags,
}

/// Gives a loop whose test compares two counters that approach each other one that counts its iterations.
pub(super) fn settle(module: &Module, func: &mut Function, l: &Loop) {
    if let Some(meeting) = Meeting::of(module, func, l) {
        meeting.count(func, l);
    }
}

struct Meeting {
    /// The one that is below the other as long as the loop goes on.
    low: End,
    high: End,
    pred: IntPred,
}

impl Meeting {
    fn of(module: &Module, func: &Function, l: &Loop) -> Option<Meeting> {
        let compared = func.def_inst(func.insts[l.test].args[0])?;
        let (&Op::ICmp(pred), &[a, b]) = (&func.insts[compared].op, &func.insts[compared].args[..]) else {
            return None;
        };
        let pred = if l.stays_if { pred } else { inverse(pred) };
        let is_less = matches!(pred, IntPred::Slt | IntPred::Sle | IntPred::Ult | IntPred::Ule);
        let (pred, [low, high]) = if is_less { (pred, [a, b]) } else { (swapped(pred), [b, a]) };
        if matches!(pred, IntPred::Eq | IntPred::Ne) || l.is_invariant(func, a) || l.is_invariant(func, b) {
            return None;
        }
        let [low, high] = [end(module, func, l, low)?, end(module, func, l, high)?];
        let meeting = Meeting { low, high, pred };
        meeting.is_exact(func).then_some(meeting)
    }

    /// By how much the distance shrinks in each iteration.
    fn closing(&self) -> i128 {
        self.low.step - self.high.step
    }

    /// Whether both are the numbers that they would be if they could not wrap, until they have met.
    fn is_exact(&self, func: &Function) -> bool {
        let ty = func.ty(self.low.start);
        let has = |flag: InstFlags| [&self.low, &self.high].iter().all(|end| end.flags.contains(flag));
        let is_signed = matches!(self.pred, IntPred::Slt | IntPred::Sle);
        let is_strict = matches!(self.pred, IntPred::Slt | IntPred::Ult);
        let by_one = (self.low.step, self.high.step) == (1, -1);
        let closes = (1..=1 << 31).contains(&self.closing());
        let exact = match ty.int_bits() {
            Some(bits) => bits <= 64 && (is_signed && has(InstFlags::NSW) || is_strict && by_one),
            None => ty.is_ptr() && !is_signed && has(InstFlags::INBOUNDS),
        };
        closes && exact && func.ty(self.high.start) == ty
    }

    /// Adds the counter, and has the test compare it.
    fn count(&self, func: &mut Function, l: &Loop) {
        let i64_ = Type::Int(64);
        let [low, high] = [&self.low, &self.high].map(|end| end.first(func, l).1);
        let goes_on = func.append_value(l.preheader, Op::ICmp(self.pred), &[low, high], Type::BOOL);
        let [low, high] = [low, high].map(|v| self.widened(func, l, v));
        let apart = func.append_value(l.preheader, Op::Binary(BinaryOp::Sub), &[high, low], i64_);
        let [zero, one, by] = [0, 1, self.closing() as u128].map(|n| func.int_const(64, n));
        // `low < high` holds once more for each time that the distance exceeds a multiple of what it shrinks by.
        let is_strict = matches!(self.pred, IntPred::Slt | IntPred::Ult);
        let least = if is_strict {
            func.append_value(l.preheader, Op::Binary(BinaryOp::Sub), &[apart, one], i64_)
        } else {
            apart
        };
        let more = func.append_value(l.preheader, Op::Binary(BinaryOp::UDiv), &[least, by], i64_);
        let all = func.append_value(l.preheader, Op::Binary(BinaryOp::Add), &[more, one], i64_);
        let rounds = func.append_value(l.preheader, Op::Select, &[goes_on, all, zero], i64_);

        count_to(func, l, rounds, InstFlags::NUW | InstFlags::NSW);
    }

    /// A number or an address in 64 bits.
    fn widened(&self, func: &mut Function, l: &Loop, v: Value) -> Value {
        let op = match (func.ty(v).int_bits(), self.pred) {
            (Some(64), _) => return v,
            (None, _) => CastOp::PtrToInt,
            (_, IntPred::Slt | IntPred::Sle) => CastOp::SExt,
            _ => CastOp::ZExt,
        };
        func.append_value(l.preheader, Op::Cast(op), &[v], Type::Int(64))
    }
}

/// Gives a loop a counter of its own, and has its test compare that with the number of iterations. The flags are those
/// of its additions. The counter.
pub(super) fn count_to(func: &mut Function, l: &Loop, rounds: Value, flags: InstFlags) -> Value {
    let ty = func.ty(rounds);
    let [zero, one] = [0, 1].map(|n| func.int_const(ty.int_bits().unwrap_or(64), n));
    let counter = func.add_phi(l.header, ty);
    let next = func.make_inst(l.header, Op::Binary(BinaryOp::Add), &[counter, one], &[ty]);
    func.insts[next].flags = flags;
    func.blocks[l.header].insts.insert(0, next);
    let next = func.insts[next].results[0];
    l.hand_on(func, counter, zero, next);
    let pred = if l.stays_if { IntPred::Ult } else { IntPred::Uge };
    let compared = &[counter, rounds];
    let test = func.insert_value_before(l.test, Op::ICmp(pred), compared, Type::BOOL, InstFlags::empty());
    func.insts[l.test].args[0] = test;
    counter
}

impl End {
    /// The φ's first number, and the first one that is compared. Where the loop is left before that, they may be
    /// poison.
    pub(super) fn first(&self, func: &mut Function, l: &Loop) -> (Value, Value) {
        let ty = func.ty(self.start);
        let start = func.append_value(l.preheader, Op::Freeze, &[self.start], ty);
        if self.offset == 0 {
            return (start, start);
        }
        let (op, bits) = match ty.int_bits() {
            Some(bits) => (Op::Binary(BinaryOp::Add), bits),
            None => (Op::Gep(Type::Int(8)), 64),
        };
        let offset = func.int_const(bits, self.offset as u128);
        (start, func.append_value(l.preheader, op, &[start, offset], ty))
    }
}

/// What is compared, if it is a counter.
pub(super) fn end(module: &Module, func: &Function, l: &Loop, v: Value) -> Option<End> {
    let (phi, offset, promised) = match l.position_of(func, v) {
        Some(_) => (v, 0, InstFlags::all()),
        None => match l.addition(module, func, func.def_inst(v)?)? {
            (phi, Growth::Constant(offset), flags) => (phi, offset, flags),
            _ => return None,
        },
    };
    let position = l.position_of(func, phi)?;
    let next = func.def_inst(func.edges[l.back].args[position])?;
    let (of, Growth::Constant(step), flags) = l.addition(module, func, next)? else { return None };
    let start = func.edges[func.out_edges(l.preheader)[0]].args[position];
    (of == phi && step != 0).then_some(End { phi, start, offset, step, flags: flags & promised })
}
