//! States of one bit: what a loop knows at each place of a text or a signal.
//!
//! ```c
//! if (s[i] == '"') quoted = !quoted;               // toggled
//! else if (s[i] == ',' && !quoted) fields++;
//!
//! if (s[i] == '#') comment = true;                 // set
//! else if (s[i] == '\n') comment = false;          // reset
//! ```
//!
//! What such a bit becomes is a function of what it was, of which there are four: it stays, it is set, reset or
//! toggled. Each lane knows which of them is its own by computing what comes of 0 and of 1, and all lanes' states
//! follow from the one before the group by operations on as many bits as there are lanes:
//! * without toggles by an addition: a bit that is set generates a carry, one that stays propagates it, and the carry
//!   into each place is the state there;
//! * toggles are counted modulo 2 by an exclusive prefix sum, and what is left is whether the state differs from that.
//!
//! This is how text is searched by bits in parallel (Cameron, Herdy and Lin, "High Performance XML Parsing Using
//! Parallel Bit Stream Technology", CASCON 2008; Langdale and Lemire, "Parsing Gigabytes of JSON per Second", VLDB
//! Journal 28, 2019), found here in programs that ask one character after the other.

use std::collections::HashMap;

use warpline_ir::{BinaryOp, Block, CastOp, Function, Inst, IntPred, LaneOp, Op, Type, Value};

use super::carried::Dependent;
use super::find::Loop;
use super::put::Put;

/// So deep is looked for what a value may be.
const MAX_DEPTH: u32 = 16;
/// So many instructions make the next bit at most.
const MOST: usize = 64;
/// The bits of all lanes.
const BITS: u32 = 64;

/// What is known to be 0 or 1, if a φ is.
pub(super) struct Bit<'a> {
    func: &'a Function,
    l: &'a Loop,
    phi: Value,
}

impl<'a> Bit<'a> {
    /// Of a φ of the header, if it is 0 or 1 before each iteration.
    pub(super) fn of(func: &'a Function, l: &'a Loop, position: usize) -> Option<Bit<'a>> {
        let phi = func.insts[func.blocks[l.header].phis[position]].results[0];
        if !matches!(func.ty(phi), Type::Int(1..=64)) {
            return None;
        }
        let start = func.edges[func.out_edges(l.preheader)[0]].args[position];
        let next = func.edges[l.back].args[position];
        let bit = Bit::new(func, l, phi);
        (bit.is_one(start, MAX_DEPTH) && bit.is_one(next, MAX_DEPTH)).then_some(bit)
    }

    /// Of a φ of the header that is 0 or 1.
    pub(super) fn new(func: &'a Function, l: &'a Loop, phi: Value) -> Bit<'a> {
        Bit { func, l, phi }
    }

    /// Whether a value is 0 or 1.
    pub(super) fn is_bit(&self, v: Value) -> bool {
        self.is_one(v, MAX_DEPTH)
    }

    fn is_one(&self, v: Value, depth: u32) -> bool {
        let func = self.func;
        if v == self.phi || func.ty(v) == Type::BOOL || func.as_int(v).is_some_and(|n| n <= 1) {
            return true;
        }
        let Some(i) = func.def_inst(v).filter(|_| depth > 0) else { return false };
        let data = &func.insts[i];
        let one = |&a: &Value| self.is_one(a, depth - 1);
        match data.op {
            Op::Cast(CastOp::ZExt | CastOp::Trunc) | Op::Freeze => one(&data.args[0]),
            Op::Select => data.args[1..].iter().all(one),
            Op::Binary(BinaryOp::And) => data.args.iter().any(one),
            Op::Binary(BinaryOp::Or | BinaryOp::Xor) => data.args.iter().all(one),
            Op::Phi if data.block != self.l.header => {
                super::selections::incoming(func, i).all(|(_, a)| one(&a))
            }
            _ => false,
        }
    }
}

/// How a bit changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct State {
    /// The instructions that make the next one of it, in their order.
    steps: Vec<Inst>,
    /// Whether it may be toggled.
    toggles: bool,
}

/// How a value follows a bit that it is computed from.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Sense {
    /// It is not computed from it.
    None,
    /// It does not fall where the bit rises.
    Same,
    /// It does not rise where the bit rises.
    Opposite,
    Any,
}

impl Sense {
    fn not(self) -> Sense {
        match self {
            Sense::Same => Sense::Opposite,
            Sense::Opposite => Sense::Same,
            other => other,
        }
    }

    fn and(self, other: Sense) -> Sense {
        match (self, other) {
            (Sense::None, x) | (x, Sense::None) => x,
            (x, y) if x == y => x,
            _ => Sense::Any,
        }
    }
}

impl State {
    /// How the φ of the header at a position changes, if it is a bit all the time and its next value is computed in
    /// every iteration, by one block's logic.
    pub(super) fn of(func: &Function, l: &Loop, position: usize) -> Option<State> {
        let bit = Bit::of(func, l, position)?;
        let next = func.edges[l.back].args[position];
        func.def_inst(next).filter(|&i| l.is_always(func, func.insts[i].block))?;
        let dependent = Dependent::of(func, &l.users(func), bit.phi);
        let mut steps = Steps { bit, dependent, senses: HashMap::new(), all: Vec::new() };
        let sense = steps.sense(next)?;
        Some(State { steps: steps.all, toggles: !matches!(sense, Sense::None | Sense::Same) })
    }

    /// Makes every lane's state, in the function of one iteration, from the one before the group: what the φ is, and
    /// all lanes' next ones as bits. `place` is behind the next one of a lane; `moves_up` moves what a value is
    /// computed from to before the φ is used.
    pub(super) fn emit(
        &self,
        body: &mut Function,
        (phi, next): (Value, Value),
        carry: Value,
        width: u32,
        place: (Block, usize),
        moves_up: &mut dyn FnMut(&mut Function, Value),
    ) -> [Value; 2] {
        let mut put = Put::at(body, place);
        let [zero, one] = [false, true].map(|b| put.body.bool_const(b));
        let mut outcomes = HashMap::from([(phi, [zero, one])]);
        for &step in &self.steps {
            let made = put.outcomes(step, &mut outcomes);
            let result = put.body.insts[step].results[0];
            outcomes.insert(result, made);
        }
        let after = outcomes.get(&next).copied();
        let after = after.unwrap_or_else(|| [put.truth(next); 2]);
        for v in after {
            moves_up(put.body, v);
        }
        put.go_behind(&after);
        let [of_zero, of_one] = after.map(|v| match put.body.as_int(v) {
            Some(0) => put.body.int_const(BITS, 0),
            _ => put.value(Op::Lane(LaneOp::Ballot), &[v], Type::Int(BITS)),
        });
        let begin = put.bits_of(carry);
        let states = match self.toggles {
            false => put.carries(of_zero, of_one, begin),
            true => put.toggled(of_zero, of_one, begin, width),
        };
        // `of_one` where the state is 1, else `of_zero`.
        let differ = put.logic(BinaryOp::Xor, of_zero, of_one);
        let flips = put.logic(BinaryOp::And, differ, states);
        let nexts = put.logic(BinaryOp::Xor, flips, of_zero);
        let state = put.value(Op::Lane(LaneOp::BitOfLane), &[states], Type::BOOL);
        let state = match put.body.ty(phi) {
            Type::BOOL => state,
            ty => put.value(Op::Cast(CastOp::ZExt), &[state], ty),
        };
        [state, nexts]
    }
}

/// Finds the instructions that make a bit of another one.
struct Steps<'a> {
    bit: Bit<'a>,
    dependent: Dependent,
    senses: HashMap<Value, Sense>,
    all: Vec<Inst>,
}

impl Steps<'_> {
    /// How a value follows the φ; `None` if that is not known, or it is no bit.
    fn sense(&mut self, v: Value) -> Option<Sense> {
        if v == self.bit.phi {
            return Some(Sense::Same);
        }
        if let Some(&known) = self.senses.get(&v) {
            return Some(known);
        }
        if !self.dependent.values.contains(v) {
            return Some(Sense::None);
        }
        let func = self.bit.func;
        let i = func.def_inst(v).filter(|_| self.bit.is_bit(v) && self.senses.len() < MOST)?;
        let data = &func.insts[i];
        let args = &data.args;
        let mut all = Vec::new();
        for &a in args {
            all.push(self.sense(a)?);
        }
        let bits = |steps: &Self| args.iter().all(|&a| steps.bit.is_bit(a));
        let is = |a: usize, n: u128| func.as_int(args[a]) == Some(n);
        let sense = match data.op {
            Op::Cast(CastOp::ZExt | CastOp::Trunc) | Op::Freeze if bits(self) => all[0],
            Op::Binary(BinaryOp::And | BinaryOp::Or) if bits(self) => all[0].and(all[1]),
            Op::Binary(BinaryOp::Xor) if is(0, 1) => all[1].not(),
            Op::Binary(BinaryOp::Xor) if is(1, 1) => all[0].not(),
            Op::Binary(BinaryOp::Xor) if bits(self) => Sense::Any,
            Op::ICmp(IntPred::Eq) if is(1, 0) && self.bit.is_bit(args[0]) => all[0].not(),
            Op::ICmp(IntPred::Ne) if is(1, 0) && self.bit.is_bit(args[0]) => all[0],
            Op::ICmp(IntPred::Eq | IntPred::Ne) if bits(self) => Sense::Any,
            Op::Select if bits(self) => match all[0] {
                Sense::None => all[1].and(all[2]),
                // `c || x`, `c && x`.
                c if is(1, 1) => c.and(all[2]),
                c if is(2, 0) => c.and(all[1]),
                c if is(1, 0) => c.not().and(all[2]),
                c if is(2, 1) => c.not().and(all[1]),
                _ => Sense::Any,
            },
            _ => return None,
        };
        self.senses.insert(v, sense);
        self.all.push(i);
        Some(sense)
    }
}

/// Computes with truth values and with the bits of lanes.
impl Put<'_> {
    fn logic(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.body.ty(a);
        self.value(Op::Binary(op), &[a, b], ty)
    }

    /// What an instruction makes of both states, as truth values.
    fn outcomes(&mut self, step: Inst, known: &mut HashMap<Value, [Value; 2]>) -> [Value; 2] {
        let data = self.body.insts[step].clone();
        let args: Vec<[Value; 2]> = data
            .args
            .iter()
            .map(|&a| match known.get(&a) {
                Some(&both) => both,
                None => {
                    let both = [self.truth(a); 2];
                    known.insert(a, both);
                    both
                }
            })
            .collect();
        let one = |put: &mut Self, k: usize| match data.op {
            Op::Binary(op) => put.combined(op, args[0][k], args[1][k]),
            Op::ICmp(pred) => {
                let differs = put.combined(BinaryOp::Xor, args[0][k], args[1][k]);
                match pred {
                    IntPred::Ne => differs,
                    _ => put.not(differs),
                }
            }
            Op::Select => put.selected(args[0][k], args[1][k], args[2][k]),
            _ => args[0][k],
        };
        if args.iter().all(|[x, y]| x == y) {
            let same = one(self, 0);
            return [same; 2];
        }
        [one(self, 0), one(self, 1)]
    }

    /// A bit as a truth value. What the program does not look at may be poison, and both states are computed from
    /// one and the same value.
    fn truth(&mut self, v: Value) -> Value {
        if let Some(n) = self.body.as_int(v) {
            return self.body.bool_const(n != 0);
        }
        let widened = self.body.def_inst(v).map(|i| &self.body.insts[i]);
        let widened = widened.filter(|data| data.op == Op::Cast(CastOp::ZExt)).map(|data| data.args[0]);
        let truth = match widened.filter(|&x| self.body.ty(x) == Type::BOOL) {
            Some(x) => x,
            None if self.body.ty(v) == Type::BOOL => v,
            None => self.value(Op::Cast(CastOp::Trunc), &[v], Type::BOOL),
        };
        self.value(Op::Freeze, &[truth], Type::BOOL)
    }

    fn not(&mut self, v: Value) -> Value {
        let one = self.body.bool_const(true);
        self.combined(BinaryOp::Xor, v, one)
    }

    fn combined(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let (a, b) = if self.body.as_int(a).is_some() { (b, a) } else { (a, b) };
        match (op, self.body.as_int(a), self.body.as_int(b)) {
            (BinaryOp::And, Some(x), Some(y)) => self.body.bool_const(x & y != 0),
            (BinaryOp::Or, Some(x), Some(y)) => self.body.bool_const(x | y != 0),
            (_, Some(x), Some(y)) => self.body.bool_const(x ^ y != 0),
            (BinaryOp::And, _, Some(0)) | (BinaryOp::Or, _, Some(1)) => b,
            (BinaryOp::And, _, Some(_)) | (BinaryOp::Or | BinaryOp::Xor, _, Some(0)) => a,
            _ => self.logic(op, a, b),
        }
    }

    fn selected(&mut self, c: Value, yes: Value, no: Value) -> Value {
        match (self.body.as_int(c), self.body.as_int(yes), self.body.as_int(no)) {
            (Some(0), ..) => no,
            (Some(_), ..) => yes,
            _ if yes == no => yes,
            (_, Some(1), Some(0)) => c,
            (_, Some(0), Some(1)) => self.not(c),
            _ => self.value(Op::Select, &[c, yes, no], Type::BOOL),
        }
    }

    /// A number as the bits of lanes: its own in place 0.
    fn bits_of(&mut self, v: Value) -> Value {
        let ty = Type::Int(BITS);
        if self.body.ty(v) == ty { v } else { self.value(Op::Cast(CastOp::ZExt), &[v], ty) }
    }

    /// The states of a bit that comes of 0 and of 1 as these bits say, and never falls where it rises: the carries of
    /// an addition.
    fn carries(&mut self, of_zero: Value, of_one: Value, begin: Value) -> Value {
        let sum = self.logic(BinaryOp::Add, of_zero, of_one);
        let sum = self.logic(BinaryOp::Add, sum, begin);
        let without = self.logic(BinaryOp::Xor, of_zero, of_one);
        self.logic(BinaryOp::Xor, sum, without)
    }

    /// The states of a bit that may be toggled: those of one that says whether it differs from the number of toggles
    /// before, modulo 2.
    fn toggled(&mut self, of_zero: Value, of_one: Value, begin: Value, width: u32) -> Value {
        let all = self.body.int_const(BITS, u128::from(u64::MAX));
        let not_one = self.logic(BinaryOp::Xor, of_one, all);
        let mut toggles = self.logic(BinaryOp::And, of_zero, not_one);
        for distance in (0..6).map(|k| 1 << k).filter(|&d| d < width) {
            let by = self.body.int_const(BITS, u128::from(distance));
            let moved = self.logic(BinaryOp::Shl, toggles, by);
            toggles = self.logic(BinaryOp::Xor, toggles, moved);
        }
        let depends = self.logic(BinaryOp::Xor, of_zero, of_one);
        let settles = self.logic(BinaryOp::Xor, depends, all);
        let differs = self.logic(BinaryOp::Xor, of_one, toggles);
        let set = self.logic(BinaryOp::And, settles, differs);
        let either = self.logic(BinaryOp::Or, set, depends);
        let states = self.carries(set, either, begin);
        let one = self.body.int_const(BITS, 1);
        let before = self.logic(BinaryOp::Shl, toggles, one);
        self.logic(BinaryOp::Xor, states, before)
    }
}
