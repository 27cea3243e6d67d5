//! The state behind the vector loop, as the scalar loop takes it: what the lanes have found, put together.
//!
//! Lanes of reductions are combined in a tree. Of a [selection](super::selections), the lane is looked for from which
//! the sequential loop would have selected: by the best value, and the number of the iteration it is of.

use std::collections::HashMap;

use super::carried::Kind;
use super::rewrite::{Parts, all_lanes};
use super::selections::{MAX_NUMBER, NUMBER_BITS, Rank, Selection};
use crate::better::{Better, Order};
use crate::builder::Builder;
use crate::dependences::Growth;
use warpline_ir::{BinaryOp, CastOp, FloatPred, Function, InstFlags, IntPred, Op, Type, Value};

impl Parts<'_> {
    /// The state behind the last group. The values of the φs are given before the first group and behind the last.
    pub(super) fn state_behind(&self, b: &mut Builder, starts: &[Value], last: &[Value]) -> Vec<Value> {
        let mut values: Vec<Value> = last.to_vec();
        for (k, value) in values.iter_mut().enumerate() {
            *value = self.whole(b, k, *value);
        }
        for selection in self.selections {
            let winner = Winner::find(b, selection, last);
            for member in &selection.members {
                let k = member.phi;
                let taken = match member.formula {
                    Some(formula) => {
                        let made = HashMap::new();
                        Formula { parts: self, starts, number: winner.number, made }.value(b, formula)
                    }
                    None => winner.of(b, last[k]),
                };
                let ty = b.func.ty(starts[k]);
                values[k] = b.value(Op::Select, &[winner.is_any, taken, starts[k]], ty);
            }
            values[selection.number] = winner.number;
        }
        values
    }
}

/// The lane that was selected from.
struct Winner {
    /// The number of the iteration.
    number: Value,
    /// Whether anything was selected.
    is_any: Value,
    /// The lane; none if there is but one.
    lane: Option<Value>,
}

impl Winner {
    fn find(b: &mut Builder, selection: &Selection, last: &[Value]) -> Winner {
        let numbers = last[selection.number];
        let zero = b.int(NUMBER_BITS, 0);
        let Some(lanes) = lanes_of(&b.func, numbers) else {
            let is_any = b.icmp(IntPred::Sge, numbers, zero);
            return Winner { number: numbers, is_any, lane: None };
        };
        let number = match selection.rank {
            Rank::Last => reduced(b, "smax", numbers),
            Rank::Best { phi, better } => best_number(b, better, last[phi], numbers),
        };
        let taken = b.icmp(IntPred::Sge, number, zero);
        // The greatest number stands for lanes without the best value.
        let greatest = b.int(NUMBER_BITS, MAX_NUMBER);
        let some = b.icmp(IntPred::Ne, number, greatest);
        let is_any = b.binary(BinaryOp::And, taken, some, InstFlags::empty());
        let all = b.splat(number, lanes);
        let here = b.icmp(IntPred::Eq, numbers, all);
        let each = b.lanes(32, lanes, u128::from);
        let none = b.lanes(32, lanes, |_| 0);
        let own = select(b, here, each, none);
        // Lanes agree on the number only if nothing was selected.
        let lane = reduced(b, "umax", own);
        Winner { number, is_any, lane: Some(lane) }
    }

    /// The value of its lane.
    fn of(&self, b: &mut Builder, values: Value) -> Value {
        match (self.lane, b.func.ty(values)) {
            (Some(lane), Type::Vector(v)) => b.value(Op::ExtractElement, &[values, lane], v.elem.into()),
            _ => values,
        }
    }
}

/// The number of the iteration with the best value.
fn best_number(b: &mut Builder, better: Better, values: Value, numbers: Value) -> Value {
    let lanes = lanes_of(&b.func, values).unwrap_or(1);
    let best = all_lanes(b, values, &mut |b, x, y| {
        let ty = b.func.ty(x);
        let first = compared(b, better.order, x, y);
        b.value(Op::Select, &[first, x, y], ty)
    });
    let all = b.splat(best, lanes);
    let bools = Type::BOOL.vector(lanes).unwrap_or(Type::BOOL);
    let is_best = match better.order {
        Order::Int(_) => b.icmp(IntPred::Eq, values, all),
        Order::Float(_) => b.value(Op::FCmp(FloatPred::Oeq), &[values, all], bools),
    };
    let (name, worst) = if better.last_of_equals { ("smax", -1) } else { ("smin", MAX_NUMBER) };
    let worst = b.lanes(NUMBER_BITS, lanes, |_| worst as u32 as u128);
    let of_best = select(b, is_best, numbers, worst);
    reduced(b, name, of_best)
}

fn compared(b: &mut Builder, order: Order, x: Value, y: Value) -> Value {
    let op = match order {
        Order::Int(pred) => Op::ICmp(pred),
        Order::Float(pred) => Op::FCmp(pred),
    };
    let ty = match lanes_of(&b.func, x) {
        Some(lanes) => Type::BOOL.vector(lanes).unwrap_or(Type::BOOL),
        None => Type::BOOL,
    };
    b.value(op, &[x, y], ty)
}

fn select(b: &mut Builder, cond: Value, x: Value, y: Value) -> Value {
    let ty = b.func.ty(x);
    b.value(Op::Select, &[cond, x, y], ty)
}

fn lanes_of(func: &Function, x: Value) -> Option<u32> {
    match func.ty(x) {
        Type::Vector(v) => Some(v.lanes),
        _ => None,
    }
}

/// The elements of a vector of numbers of iterations or lanes, combined by one of LLVM's reductions.
fn reduced(b: &mut Builder, name: &str, x: Value) -> Value {
    let Some(lanes) = lanes_of(&b.func, x) else { return x };
    let name = format!("llvm.vector.reduce.{name}.v{lanes}i32");
    b.intrinsic(&name, &[x], Type::Int(32))
}

/// What a selection takes, computed from the number of the iteration.
struct Formula<'a> {
    parts: &'a Parts<'a>,
    starts: &'a [Value],
    number: Value,
    made: HashMap<Value, Value>,
}

impl Formula<'_> {
    /// The value in the iteration of this number.
    fn value(&mut self, b: &mut Builder, v: Value) -> Value {
        if let Some(&known) = self.made.get(&v) {
            return known;
        }
        let inside = b.func.def_inst(v).filter(|&i| self.parts.l.blocks.contains(b.func.insts[i].block));
        let Some(i) = inside else { return v };
        let new = match self.parts.carried.iter().position(|c| c.phi == v) {
            Some(k) => self.induction(b, k),
            None => {
                let (op, flags) = (b.func.insts[i].op.clone(), b.func.insts[i].flags);
                let args: Vec<Value> = b.func.insts[i].args.to_vec();
                let args: Vec<Value> = args.into_iter().map(|a| self.value(b, a)).collect();
                let new = b.func.append(b.at, op, &args, b.func.ty(v));
                b.func.insts[new].flags = flags;
                b.func.insts[new].results[0]
            }
        };
        self.made.insert(v, new);
        new
    }

    /// An induction in the iteration of the number.
    fn induction(&self, b: &mut Builder, k: usize) -> Value {
        let start = self.starts[k];
        let Kind::Induction { step: Growth::Constant(by), .. } = self.parts.carried[k].kind else {
            return start;
        };
        let ty = b.func.ty(start);
        let bits = ty.int_bits().unwrap_or(64);
        let number = match bits {
            0..NUMBER_BITS => b.cast(CastOp::Trunc, self.number, Type::Int(bits)),
            _ => b.cast(CastOp::ZExt, self.number, Type::Int(bits)),
        };
        let step = b.func.int_const(bits, by as u128);
        let distance = b.binary(BinaryOp::Mul, number, step, InstFlags::empty());
        match ty.is_ptr() {
            true => b.value(Op::Gep(Type::Int(8)), &[start, distance], ty),
            false => b.binary(BinaryOp::Add, start, distance, InstFlags::empty()),
        }
    }
}
