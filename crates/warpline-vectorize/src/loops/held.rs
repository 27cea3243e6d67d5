//! Values that are held from one iteration to the next until another one takes their place: the last one that was
//! valid, in a signal with gaps.
//!
//! ```c
//! if (valid[i]) last = x[i];      // last' = valid[i] ? x[i] : last
//! o[i] = last;
//! ```
//!
//! Each lane looks for the last lane up to itself that has a value of its own, by an inclusive scan of the greatest
//! number of such a lane, and takes that lane's value; if there is none, what was held before the group. Where nobody
//! looks at what is held before the loop ends, it is a [selection](super::selections).

use warpline_ir::{BinaryOp, Combine, Function, Inst, IntPred, LaneOp, Op, Type, Value};

use super::carried::Dependent;
use super::find::Loop;

/// So many choices lead to what is held at most.
const MOST: usize = 32;
const NUMBER: u32 = 32;

/// How a φ of the header is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Held {
    /// The `select`s that choose between it and other values, in the order of execution.
    choices: Vec<Inst>,
}

impl Held {
    /// How the φ of the header at a position is held: if it becomes itself or one of the values that do not depend on
    /// it, by conditions that do not either, in every iteration.
    pub(super) fn of(func: &Function, l: &Loop, position: usize) -> Option<Held> {
        let phi = func.insts[func.blocks[l.header].phis[position]].results[0];
        let next = func.edges[l.back].args[position];
        let dependent = Dependent::of(func, &l.users(func), phi);
        let mut choices = Vec::new();
        let mut work = vec![next];
        let mut keeps = false;
        while let Some(v) = work.pop() {
            keeps |= v == phi;
            if v == phi || !dependent.values.contains(v) {
                continue;
            }
            let i = func.def_inst(v)?;
            let data = &func.insts[i];
            let &[condition, yes, no] = &data.args[..] else { return None };
            let fits = data.op == Op::Select
                && func.ty(condition) == Type::BOOL
                && !dependent.values.contains(condition)
                && l.is_always(func, data.block)
                && data.block == func.insts[func.def_inst(next)?].block;
            if !fits || choices.len() == MOST {
                return None;
            }
            if !choices.contains(&i) {
                choices.push(i);
                work.extend([yes, no]);
            }
        }
        let block = func.def_block(next)?;
        let place = |i: &Inst| func.blocks[block].insts.iter().position(|x| x == i);
        choices.sort_by_key(place);
        let moves = LaneOp::Shuffle.takes(func.ty(phi));
        (keeps && moves && !choices.is_empty()).then_some(Held { choices })
    }

    /// Makes what each lane holds behind its iteration, and what is held behind the group, in the function of one
    /// iteration, from what was held before the group.
    pub(super) fn emit(&self, body: &mut Function, phi: Value, carry: Value, lane: Value) -> [Value; 2] {
        let &last = self.choices.last().expect("something is chosen");
        let block = body.insts[last].block;
        let mut place = body.blocks[block].insts.iter().position(|&i| i == last).map_or(0, |at| at + 1);
        let mut put = |body: &mut Function, op: Op, args: &[Value], ty: Type| {
            let i = body.make_inst(block, op, args, &[ty]);
            body.blocks[block].insts.insert(place, i);
            place += 1;
            body.insts[i].results[0]
        };
        let ty = body.ty(phi);
        // Of each choice: whether it keeps the φ, and the value otherwise.
        let mut made: Vec<(Value, Value, Option<Value>)> = Vec::new();
        for &choice in &self.choices {
            let [condition, yes, no] = [0, 1, 2].map(|k| body.insts[choice].args[k]);
            // One answer for both questions.
            let condition = put(body, Op::Freeze, &[condition], Type::BOOL);
            let known = |body: &mut Function, v: Value| match made.iter().find(|m| m.0 == v) {
                Some(&(_, keeps, value)) => (keeps, value),
                None => (body.bool_const(v == phi), (v != phi).then_some(v)),
            };
            let [(keeps_yes, yes), (keeps_no, no)] = [yes, no].map(|v| known(body, v));
            let keeps = put(body, Op::Select, &[condition, keeps_yes, keeps_no], Type::BOOL);
            let value = match (yes, no) {
                (Some(yes), Some(no)) => Some(put(body, Op::Select, &[condition, yes, no], ty)),
                (one, other) => one.or(other),
            };
            made.push((body.insts[choice].results[0], keeps, value));
        }
        let Some(&(_, keeps, Some(value))) = made.last() else { return [carry; 2] };
        let number = Type::Int(NUMBER);
        // Counted from 1, so that vectors of them are shifted with zeros behind them.
        let [none, one] = [0, 1].map(|n| body.int_const(NUMBER, n));
        let numbered = put(body, Op::Binary(BinaryOp::Add), &[lane, one], number);
        let own = put(body, Op::Select, &[keeps, none, numbered], number);
        let from = put(body, Op::Lane(LaneOp::ScanInclusive(Combine::UMax)), &[own], number);
        let is_old = put(body, Op::ICmp(IntPred::Eq), &[from, none], Type::BOOL);
        let from = put(body, Op::Binary(BinaryOp::Sub), &[from, one], number);
        let there = put(body, Op::Lane(LaneOp::Shuffle), &[value, from], ty);
        let held = put(body, Op::Select, &[is_old, carry, there], ty);
        // Behind the group: nothing but a choice waits for the group before.
        let greatest = put(body, Op::Lane(LaneOp::Reduce(Combine::UMax)), &[own], number);
        let is_old = put(body, Op::ICmp(IntPred::Eq), &[greatest, none], Type::BOOL);
        let place = put(body, Op::Binary(BinaryOp::Sub), &[greatest, one], number);
        let last = put(body, Op::Lane(LaneOp::Shuffle), &[value, place], ty);
        [held, put(body, Op::Select, &[is_old, carry, last], ty)]
    }
}
