//! How often a loop goes round, computed before it begins.
//!
//! The test of the loop compares a counter with a bound, both linear: in iteration *k* the counter is
//! `start + k·step` with a constant step, and the bound is the same in all; what is compared may also be computed from
//! the counter, as in `i + width <= n` or `2 * i + 1 < n`. [`Counter::rounds`] makes the code for
//! the number of iterations in which the test lets the loop go on. It never counts one too many: where the arithmetic
//! does not tell (a step that passes the bound by, a range of all numbers), the number is 0, and the scalar loop does
//! all the work.

use crate::VectorizeError;
use crate::builder::Builder;
use warpline_dataflow::conditions::{both, inverse, negated, swapped};
use warpline_dataflow::linear::{Extension, rounds};
use warpline_ir::{BinaryOp, CastOp, Function, Inst, InstFlags, IntPred, Module, Op, Type, Value};

use super::carried::{Carried, Kind};
use super::find::Loop;
use super::inclusive::Exhausted;
use crate::dependences::Growth;

/// The loop that a test is read of.
pub(super) struct Asked<'a> {
    pub(super) module: &'a Module,
    pub(super) func: &'a Function,
    pub(super) l: &'a Loop,
    pub(super) carried: &'a [Carried],
    /// Numbers that are taken for 1.
    pub(super) strides: &'a [Value],
}

/// What a loop's test compares.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    /// The position, among the header's φs, of the one that counts.
    pub(super) phi: usize,
    /// What is added to that before it is compared, modulo its width.
    offset: i128,
    /// The extension of the sum, and its type.
    extension: Option<(CastOp, Type)>,
    /// What is compared instead, if it is computed from the φ and what stays the same.
    computed: Option<Computed>,
    /// What is added in each iteration.
    step: i128,
    /// The loop goes on if `counter pred bound`.
    pred: IntPred,
    bound: Value,
    /// Whether the loop may be entered and the test not be reached.
    in_doubt: bool,
    /// What else must hold for the loop to go on, as `i < n && j < m` asks.
    also: Vec<Counter>,
    /// What the test asks besides that is the same in all iterations: without it there are none.
    fixed: Vec<Part>,
}

/// A condition that a loop's test asks.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) condition: Value,
    /// Whether it must hold for the loop to go on, or must not.
    pub(super) holds: bool,
    /// Whether it is not looked at where another one does not hold: it may be poison then.
    in_doubt: bool,
}

/// A number that is computed from a φ: that times a constant, and a sum of what stays the same.
#[derive(Clone, Debug)]
struct Computed {
    number: Value,
    scale: i128,
}

/// So many comparisons are taken out of a test.
const MAX_PARTS: usize = 4;

/// The comparisons that must all hold, or all not hold, for a loop to go on.
pub(super) fn parts(func: &Function, condition: Value, hold: bool) -> Vec<Part> {
    let mut found = vec![Part { condition, holds: hold, in_doubt: false }];
    let mut at = 0;
    while at < found.len() {
        let Part { condition, holds, in_doubt } = found[at];
        if let Some(opposite) = func.def_inst(condition).and_then(|i| negated(func, i)) {
            found[at] = Part { condition: opposite, holds: !holds, in_doubt };
            continue;
        }
        let joined = func.def_inst(condition).and_then(|i| Some((i, both(func, i, holds)?)));
        match joined.filter(|_| found.len() < MAX_PARTS) {
            Some((i, [first, second])) => {
                found[at] = Part { condition: first, holds, in_doubt };
                let in_doubt = in_doubt || func.insts[i].op == Op::Select;
                found.insert(at + 1, Part { condition: second, holds, in_doubt });
            }
            None => at += 1,
        }
    }
    found
}

/// What counts by 1 up to a bound.
pub(super) struct Counting {
    /// The position of the φ that counts.
    pub(super) phi: usize,
    pub(super) from: Value,
    /// Whether that is 0.
    pub(super) from_zero: bool,
    pub(super) bound: Value,
    /// Whether numbers are compared as signed ones.
    pub(super) is_signed: bool,
}

impl Counter {
    /// Reads the test of a loop, which may ask for several things at once.
    ///
    /// # Errors
    /// If one of them is neither a comparison of a counter with a bound that stays the same nor asks whether a range is
    /// exhausted.
    pub(super) fn of(asked: &Asked<'_>, exhausted: Option<Exhausted>) -> Result<Counter, VectorizeError> {
        let &Asked { func, l, carried, .. } = asked;
        let all = parts(func, func.insts[l.test].args[0], l.stays_if);
        let (mut fixed, mut counting): (Vec<Part>, Vec<Part>) =
            all.into_iter().partition(|part| l.is_invariant(func, part.condition));
        // That nothing changes is said of one.
        if counting.is_empty() {
            counting.extend(fixed.pop());
        }
        let read = |part: &Part| match exhausted.filter(|e| e.condition == part.condition) {
            Some(range) => Counter::of_range(func, l, carried, range, part.in_doubt),
            None => Counter::of_part(asked, part),
        };
        let mut first = read(&counting[0])?;
        first.also = counting[1..].iter().map(read).collect::<Result<_, _>>()?;
        first.fixed = fixed;
        Ok(first)
    }

    /// Counts up to the end of a range, which belongs to it.
    fn of_range(
        func: &Function,
        l: &Loop,
        carried: &[Carried],
        range: Exhausted,
        in_doubt: bool,
    ) -> Result<Counter, VectorizeError> {
        let counts = |c: &Carried| c.phi == range.counts && matches!(c.kind, Kind::Induction { .. });
        let phi = carried.iter().position(counts).ok_or_else(|| {
            let reason =
                "the number of iterations is not known when the loop begins: what counts them is changed";
            VectorizeError::at_inst(func, l.test, reason)
        })?;
        let Exhausted { step, pred, end: bound, .. } = range;
        let (offset, extension, computed, also, fixed) = (0, None, None, Vec::new(), Vec::new());
        Ok(Counter { phi, offset, extension, computed, step, pred, bound, in_doubt, also, fixed })
    }

    /// Reads a comparison of a loop's test.
    fn of_part(asked: &Asked<'_>, part: &Part) -> Result<Counter, VectorizeError> {
        let &Asked { func, l, carried, .. } = asked;
        let condition = part.condition;
        let refuse = |reason: &str| {
            Err(VectorizeError::at_inst(
                func,
                l.test,
                format!("the number of iterations is not known when the loop begins: {reason}"),
            ))
        };
        let compared = func.def_inst(condition).map(|i| (&func.insts[i].op, &func.insts[i].args[..]));
        let Some((&Op::ICmp(pred), &[a, b])) = compared else {
            return refuse("it does not end by a comparison of integers or pointers");
        };
        let (counter, bound, pred) = match (l.is_invariant(func, a), l.is_invariant(func, b)) {
            (false, true) => (a, b, pred),
            (true, false) => (b, a, swapped(pred)),
            (true, true) => return refuse("neither side of the comparison changes"),
            (false, false) => {
                return refuse(
                    "both sides of the comparison change; if one is a load, read it before the loop",
                );
            }
        };
        let pred = if part.holds { pred } else { inverse(pred) };
        let (inner, extension) = stripped(func, counter);
        let irregular = "what is compared does not change by the same constant in each iteration";
        let (phi, offset, flags, computed) = match counting(asked, inner) {
            Some((phi, offset, flags)) => (phi, offset, flags, None),
            None => match computed(asked, counter) {
                Some((phi, computed)) => (phi, 0, InstFlags::empty(), Some(computed)),
                None => return refuse(irregular),
            },
        };
        let extension = extension.filter(|_| computed.is_none());
        let Kind::Induction { step: Growth::Constant(step), flags: own } = carried[phi].kind else {
            return refuse(irregular);
        };
        let Some(moves) = computed.as_ref().map_or(Some(step), |c| c.scale.checked_mul(step)) else {
            return refuse(irregular);
        };
        let flags = flags & own;
        let extended_exactly = match extension {
            None => true,
            Some((CastOp::SExt, _)) => flags.contains(InstFlags::NSW),
            Some(_) => flags.contains(InstFlags::NUW),
        };
        if !extended_exactly {
            return refuse("the counter is narrower than the bound and may wrap");
        }
        let ends = match pred {
            IntPred::Slt | IntPred::Ult | IntPred::Sle | IntPred::Ule => moves > 0,
            IntPred::Sgt | IntPred::Ugt | IntPred::Sge | IntPred::Uge => moves < 0,
            IntPred::Ne => moves != 0,
            IntPred::Eq => false,
        };
        if !ends {
            return refuse("its step does not lead to the bound");
        }
        let in_doubt = part.in_doubt || func.insts[l.test].block != l.header;
        Ok(Counter {
            phi,
            offset,
            extension,
            computed,
            step,
            pred,
            bound,
            in_doubt,
            also: Vec::new(),
            fixed: Vec::new(),
        })
    }

    /// What the test promises of the counter in iterations in which the loop goes on: that `start + k·step` does not
    /// wrap.
    pub(super) fn promises(&self) -> InstFlags {
        if !self.compares_phi() {
            return InstFlags::empty();
        }
        match self.pred {
            IntPred::Slt | IntPred::Sle | IntPred::Sgt | IntPred::Sge => InstFlags::NSW,
            IntPred::Ult | IntPred::Ule => InstFlags::NUW,
            _ => InstFlags::empty(),
        }
    }

    /// Whether the φ that counts is compared as it is.
    fn compares_phi(&self) -> bool {
        self.offset == 0 && self.extension.is_none() && self.computed.is_none()
    }

    /// What counts by 1 while it is less than a bound, both compared at the head of the loop as they are. Not equal is
    /// as good where it counts from 0: see [`no_wrap`](super::no_wrap).
    pub(super) fn counts_by_one(&self, func: &Function, l: &Loop) -> Option<Counting> {
        let into = func.out_edges(l.preheader)[0];
        let from = func.edges[into].args[self.phi];
        let from_zero = number(func, from) == Some(0);
        let as_it_is = self.compares_phi() && !self.in_doubt;
        let less = matches!(self.pred, IntPred::Ult | IntPred::Slt) || from_zero && self.pred == IntPred::Ne;
        let is_signed = self.pred == IntPred::Slt;
        let counting = Counting { phi: self.phi, from, from_zero, bound: self.bound, is_signed };
        (self.step == 1 && as_it_is && less).then_some(counting)
    }

    /// What is added to what counts in each iteration.
    pub(super) fn step(&self) -> i128 {
        self.step
    }

    /// How what counts is extended before it is compared, if it is.
    pub(super) fn extended(&self) -> Option<Extension> {
        self.extension.map(|(op, _)| if op == CastOp::SExt { Extension::Signed } else { Extension::Unsigned })
    }

    /// What the φ that counts begins with, if that is a constant, as a signed number.
    pub(super) fn constant_start(&self, func: &Function, l: &Loop) -> Option<i128> {
        let into = func.out_edges(l.preheader)[0];
        let start = func.edges[into].args[self.phi];
        let bits = func.ty(start).int_bits().filter(|&bits| bits <= 64)?;
        Some((number(func, start)? << (128 - bits)) as i128 >> (128 - bits))
    }

    /// The pointers between which the φ that counts moves upwards by this step, the second one behind the end, if it
    /// is a pointer and no iteration in which the loop goes on has it anywhere else.
    pub(super) fn ends_of_pointer(&self, func: &Function, l: &Loop, step: i64) -> Option<(Value, Value)> {
        let into = func.out_edges(l.preheader)[0];
        let start = func.edges[into].args[self.phi];
        let exact = self.pred == IntPred::Ne || self.pred == IntPred::Ult && self.offset == self.step;
        let inside =
            !self.in_doubt && self.computed.is_none() && (self.offset == 0 || self.offset == self.step);
        (func.ty(start).is_ptr() && self.step == i128::from(step) && exact && inside)
            .then_some((start, self.bound))
    }

    /// The number of iterations in which the test lets the loop go on, if it counts between two constants and is
    /// compared as it is.
    pub(super) fn constant_rounds(&self, func: &Function, l: &Loop) -> Option<u64> {
        if !self.fixed.is_empty() {
            return None;
        }
        self.also.iter().try_fold(self.constant_rounds_of_one(func, l)?, |least, counter| {
            Some(least.min(counter.constant_rounds_of_one(func, l)?))
        })
    }

    fn constant_rounds_of_one(&self, func: &Function, l: &Loop) -> Option<u64> {
        let into = func.out_edges(l.preheader)[0];
        let as_it_is = self.extension.is_none() && self.computed.is_none();
        let bits = func.ty(self.bound).int_bits().filter(|&bits| bits <= 64 && as_it_is)?;
        let from = number(func, func.edges[into].args[self.phi])?.wrapping_add(self.offset as u128);
        let from = from & ((1 << bits) - 1);
        rounds(self.pred, from, i64::try_from(self.step).ok()?, number(func, self.bound)?, bits)
    }

    /// Makes the code for the number of iterations in which the test lets the loop go on, an unsigned `i64`. `starts`
    /// has what the header's φs, `phis`, begin with.
    pub(super) fn rounds(&self, b: &mut Builder, l: &Loop, starts: &[Value], phis: &[Value]) -> Value {
        let own = self.rounds_of_one(b, l, starts, phis);
        let counted = self.also.iter().fold(own, |least, counter| {
            let rounds = counter.rounds_of_one(b, l, starts, phis);
            let less = b.icmp(IntPred::Ult, rounds, least);
            b.value(Op::Select, &[less, rounds, least], Type::Int(64))
        });
        let none = b.func.int_const(64, 0);
        self.fixed.iter().fold(counted, |rounds, part| {
            // What the test does not look at may be poison.
            let condition = b.value(Op::Freeze, &[part.condition], Type::BOOL);
            let [holds, fails] = if part.holds { [rounds, none] } else { [none, rounds] };
            b.value(Op::Select, &[condition, holds, fails], Type::Int(64))
        })
    }

    fn rounds_of_one(&self, b: &mut Builder, l: &Loop, starts: &[Value], phis: &[Value]) -> Value {
        let (counter, moves) = match &self.computed {
            None => (starts[self.phi], self.step),
            Some(Computed { number, scale }) => {
                (first_of(b, l, *number, (phis[self.phi], starts[self.phi])), scale * self.step)
            }
        };
        let counter = self.numeric(b, counter);
        let bound = self.numeric(b, self.bound);
        let narrow = b.func.ty(counter).int_bits().unwrap_or(64);
        let counter = match self.offset {
            0 => counter,
            offset => {
                let offset = b.func.int_const(narrow, offset as u128);
                b.binary(BinaryOp::Add, counter, offset, InstFlags::empty())
            }
        };
        let counter = match self.extension {
            Some((op, ty)) => b.cast(op, counter, ty),
            None => counter,
        };
        let ty = b.func.ty(counter);
        let bits = ty.int_bits().unwrap_or(64);
        let (far, near) = if moves > 0 { (bound, counter) } else { (counter, bound) };
        let distance = b.binary(BinaryOp::Sub, far, near, InstFlags::empty());
        let stride = b.func.int_const(bits, moves.unsigned_abs());
        let one = b.func.int_const(bits, 1);
        let zero = b.func.int_const(bits, 0);
        let by_stride = |b: &mut Builder, distance| match moves.unsigned_abs() {
            1 => distance,
            _ => b.binary(BinaryOp::UDiv, distance, stride, InstFlags::empty()),
        };
        let (counts, rounds) = match self.pred {
            // One step after the other meets the bound.
            IntPred::Ne if moves.unsigned_abs() == 1 => (b.func.bool_const(true), distance),
            IntPred::Ne => {
                let rest = b.binary(BinaryOp::URem, distance, stride, InstFlags::empty());
                let met = b.icmp(IntPred::Eq, rest, zero);
                (met, by_stride(b, distance))
            }
            pred => {
                let inclusive = matches!(pred, IntPred::Sle | IntPred::Ule | IntPred::Sge | IntPred::Uge);
                let within = b.icmp(pred, counter, bound);
                let distance = match inclusive {
                    true => distance,
                    false => b.binary(BinaryOp::Sub, distance, one, InstFlags::empty()),
                };
                let whole = by_stride(b, distance);
                (within, b.binary(BinaryOp::Add, whole, one, InstFlags::empty()))
            }
        };
        let rounds = b.value(Op::Select, &[counts, rounds, zero], ty);
        match bits {
            0..64 => b.cast(CastOp::ZExt, rounds, Type::Int(64)),
            _ => rounds,
        }
    }

    /// A value as a number that is no poison: a test that is not reached does not mind what it would compare.
    fn numeric(&self, b: &mut Builder, x: Value) -> Value {
        let ty = b.func.ty(x);
        let x = if self.in_doubt { b.value(Op::Freeze, &[x], ty) } else { x };
        match ty {
            Type::Ptr(space) => {
                let ty = Type::Int(b.module.layout.index_bits(space));
                b.cast(CastOp::PtrToInt, x, ty)
            }
            _ => x,
        }
    }
}

/// The number that a value is: a constant, or a φ of one, as preheaders that are made have.
pub(super) fn number(func: &Function, x: Value) -> Option<u128> {
    let Some(phi) = func.def_inst(x).filter(|&i| func.insts[i].op == Op::Phi) else { return func.as_int(x) };
    let block = func.insts[phi].block;
    let at = func.blocks[block].phis.iter().position(|&p| p == phi)?;
    let mut all = func.blocks[block].preds.iter().map(|&e| func.as_int(func.edges[e].args[at]));
    let first = all.next()??;
    all.all(|n| n == Some(first)).then_some(first)
}

/// What is extended, and how.
fn stripped(func: &Function, x: Value) -> (Value, Option<(CastOp, Type)>) {
    if let Some(i) = func.def_inst(x)
        && let Op::Cast(op @ (CastOp::ZExt | CastOp::SExt)) = func.insts[i].op
    {
        return (func.insts[i].args[0], Some((op, func.ty(x))));
    }
    (x, None)
}

/// So deep is looked for what a number is computed from.
const MAX_DEPTH: u32 = 6;

/// The φ that a number is computed from, times a constant and added to what stays the same.
fn computed(asked: &Asked<'_>, number: Value) -> Option<(usize, Computed)> {
    let &Asked { func, l, carried, .. } = asked;
    let inductions = carried.iter().enumerate().filter(|(_, c)| func.ty(c.phi) == func.ty(number));
    let mut found = inductions.filter_map(|(at, c)| Some((at, scale_of(func, l, number, c.phi, MAX_DEPTH)?)));
    let (phi, scale) = found.find(|&(_, scale)| scale != 0)?;
    (scale.unsigned_abs() < 1 << 20).then_some((phi, Computed { number, scale }))
}

/// What a φ is multiplied by in a number that consists of that and what stays the same. Whatever is looked through is
/// computed anew by [`first_of`].
fn scale_of(func: &Function, l: &Loop, number: Value, phi: Value, depth: u32) -> Option<i128> {
    if number == phi {
        return Some(1);
    }
    if l.is_invariant(func, number) {
        return Some(0);
    }
    let depth = depth.checked_sub(1)?;
    let data = &func.insts[func.def_inst(number)?];
    let bits = func.ty(number).int_bits().filter(|&bits| bits <= 64)?;
    let constant = |n: usize| func.as_int(data.args[n]).map(|c| (c << (128 - bits)) as i128 >> (128 - bits));
    let of = |n: usize| scale_of(func, l, data.args[n], phi, depth);
    match data.op {
        Op::Binary(BinaryOp::Add) => of(0)?.checked_add(of(1)?),
        Op::Binary(BinaryOp::Or) if data.flags.contains(InstFlags::DISJOINT) => of(0)?.checked_add(of(1)?),
        Op::Binary(BinaryOp::Sub) => of(0)?.checked_sub(of(1)?),
        Op::Binary(BinaryOp::Mul) => of(0)?.checked_mul(constant(1)?),
        Op::Binary(BinaryOp::Shl) => of(0)?.checked_mul(1 << constant(1).filter(|c| (0..20).contains(c))?),
        _ => None,
    }
}

/// Computes a number of which [`scale_of`] is known for the first iteration, in which the φ has the second value.
/// Nothing is promised of what the test does not look at, so no step has flags.
fn first_of(b: &mut Builder, l: &Loop, number: Value, (phi, start): (Value, Value)) -> Value {
    if number == phi {
        return start;
    }
    if l.is_invariant(&b.func, number) {
        return number;
    }
    let of = b.func.def_inst(number).map(|i| b.func.insts[i].clone());
    let Some((Op::Binary(op), args)) = of.map(|data| (data.op, data.args)) else { return number };
    // Without a carry, a sum.
    let op = if op == BinaryOp::Or { BinaryOp::Add } else { op };
    let [x, y] = [args[0], args[1]].map(|v| first_of(b, l, v, (phi, start)));
    b.binary(op, x, y, InstFlags::empty())
}

/// The φ that a value is but for a constant, that constant, and what is known of the addition.
fn counting(asked: &Asked<'_>, x: Value) -> Option<(usize, i128, InstFlags)> {
    let &Asked { module, func, l, carried, strides } = asked;
    let phi = |v: Value| carried.iter().position(|c| c.phi == v);
    if let Some(at) = phi(x) {
        return Some((at, 0, InstFlags::NSW | InstFlags::NUW));
    }
    let i: Inst = func.def_inst(x)?;
    let (of, step, flags) = l.addition(module, func, i)?;
    let by = match step {
        Growth::Constant(by) => by,
        Growth::Value(by) if strides.contains(&by) => 1,
        Growth::Value(_) | Growth::Minus(_) => return None,
    };
    Some((phi(of)?, by, flags))
}
