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
//!
//! What is kept may grow by the same each time, as the length of a run does (`run = x[i] ? run + 1 : 0`): then each
//! lane adds that as often as it is lanes behind the one that it has its value from.

use warpline_analysis::Node;
use warpline_ir::{BinaryOp, Block, Combine, Edge, Function, Inst, IntPred, LaneOp, Module, Op, Type, Value};

use super::carried::Dependent;
use super::chosen::in_order;
use super::compaction::is_used;
use super::find::Loop;
use super::put::Put;
use super::selections::incoming;
use crate::dependences::Growth;

/// So many choices lead to what is held at most.
const MOST: usize = 32;
const NUMBER: u32 = 32;

/// How a φ of the header is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Held {
    /// The `select`s and φs that choose between it and other values, in the order of execution.
    choices: Vec<Inst>,
    /// What stands for what was held: the φ, or sums of it and `grows`.
    kept: Vec<Value>,
    /// By how much it grows where it is kept.
    grows: i128,
    /// What takes its place, if that is always the same.
    only: Option<Value>,
}

impl Held {
    /// How the φ of the header at a position is held: if it becomes itself, always or never with the same number added,
    /// or one of the values that do not depend on it, by conditions that do not either, in every iteration.
    pub(super) fn of(module: &Module, func: &Function, l: &Loop, position: usize) -> Option<Held> {
        let phi = func.insts[func.blocks[l.header].phis[position]].results[0];
        let next = func.edges[l.back].args[position];
        let dependent = Dependent::of(func, &l.users(func), phi);
        let is_other = |v: Value| !dependent.values.contains(v);
        func.def_inst(next).filter(|&i| l.is_always(func, func.insts[i].block))?;
        let (mut choices, mut work) = (Vec::new(), vec![next]);
        let (mut kept, mut grows) = (Vec::new(), None);
        let mut others = Vec::new();
        while let Some(v) = work.pop() {
            if is_other(v) {
                others.push(v);
                continue;
            }
            if let Some(by) = growth(module, func, l, phi, v) {
                if *grows.get_or_insert(by) != by {
                    return None;
                }
                kept.push(v);
                continue;
            }
            let i = func.def_inst(v)?;
            let data = &func.insts[i];
            let ways: Vec<Value> = match (&data.op, &data.args[..]) {
                (Op::Select, &[condition, yes, no])
                    if func.ty(condition) == Type::BOOL && is_other(condition) =>
                {
                    vec![yes, no]
                }
                (Op::Phi, _) if l.own.contains(data.block) && data.block != l.header => {
                    incoming(func, i).map(|(_, v)| v).collect()
                }
                _ => return None,
            };
            if choices.len() == MOST {
                return None;
            }
            if !choices.contains(&i) {
                choices.push(i);
                work.extend(ways);
            }
        }
        // What a branch asks may not depend on it either, where the ways of that meet.
        let joins = choices.iter().filter(|&&i| func.insts[i].op == Op::Phi).map(|&i| func.insts[i].block);
        let parts = |join: Block| {
            let begin = l.dominators.idom(Node::from(join));
            let between = func.layout.iter().copied().filter(|&b| {
                l.blocks.contains(b)
                    && !l.dominators.dominates(Node::from(join), Node::from(b))
                    && begin.is_some_and(|begin| l.dominators.dominates(begin, Node::from(b)))
            });
            let asks = |b: Block| func.insts[func.terminator(b)].args.iter().any(|&v| !is_other(v));
            between.into_iter().any(asks)
        };
        if joins.into_iter().any(parts) {
            return None;
        }
        in_order(func, l, &mut choices);
        let moves = LaneOp::Shuffle.takes(func.ty(phi));
        let grows = grows.filter(|_| moves && !choices.is_empty())?;
        let same = others.first().copied().filter(|first| others.iter().all(|v| v == first));
        Some(Held { choices, kept, grows, only: same.filter(|&v| l.is_invariant(func, v)) })
    }

    /// What takes the place of what is held, if that is the same in all iterations.
    pub(super) fn only(&self) -> Option<Value> {
        self.only
    }

    /// Makes what each lane holds behind its iteration, and what is held behind the group, in the function of one
    /// iteration, from what was held before the group. `only` is [`Held::only`] there.
    pub(super) fn emit(
        &self,
        body: &mut Function,
        (next, only): (Value, Option<Value>),
        carry: Value,
        lane: Value,
    ) -> [Value; 2] {
        let mut chosen = Chosen { kept: &self.kept, made: Vec::new() };
        // Of φs first, since a way to one may lead over another that stands behind it.
        for &choice in &self.choices {
            if body.insts[choice].op == Op::Phi {
                chosen.add_phis(body, choice);
            }
        }
        for &choice in &self.choices {
            match body.insts[choice].op {
                Op::Phi => chosen.fill_phis(body, choice),
                _ => chosen.select(body, choice),
            }
        }
        let (keeps, value) = chosen.of(body, next);
        let value = only.unwrap_or(value);
        let block = body.def_block(next).expect("something is chosen");
        let mut put = Put::at(body, (block, 0));
        put.go_behind(&[keeps, value]);
        let number = Type::Int(NUMBER);
        // Counted from 1, so that vectors of them are shifted with zeros behind them.
        let [none, one] = [0, 1].map(|n| put.body.int_const(NUMBER, n));
        let numbered = put.value(Op::Binary(BinaryOp::Add), &[lane, one], number);
        let own = put.value(Op::Select, &[keeps, none, numbered], number);
        let from = put.value(Op::Lane(LaneOp::ScanInclusive(Combine::UMax)), &[own], number);
        let held = self.taken(&mut put, (value, carry), from, numbered);
        // Behind the group: nothing but a choice waits for the group before.
        let greatest = put.value(Op::Lane(LaneOp::Reduce(Combine::UMax)), &[own], number);
        let many = match self.grows {
            0 => one,
            _ => {
                let yes = put.body.bool_const(true);
                put.value(Op::Lane(LaneOp::Popcount), &[yes], number)
            }
        };
        [held, self.taken(&mut put, (value, carry), greatest, many)]
    }

    /// The value of a lane, counted from 1, or the carried one if that is 0, as it is in the lane `at`, which is
    /// counted so, too.
    fn taken(&self, put: &mut Put<'_>, (value, carry): (Value, Value), from: Value, at: Value) -> Value {
        let (ty, number) = (put.body.ty(carry), Type::Int(NUMBER));
        let [none, one] = [0, 1].map(|n| put.body.int_const(NUMBER, n));
        let is_old = put.value(Op::ICmp(IntPred::Eq), &[from, none], Type::BOOL);
        let there = match self.only {
            Some(_) => value,
            None => {
                let place = put.value(Op::Binary(BinaryOp::Sub), &[from, one], number);
                put.value(Op::Lane(LaneOp::Shuffle), &[value, place], ty)
            }
        };
        let taken = put.value(Op::Select, &[is_old, carry, there], ty);
        let Some(bits) = ty.int_bits().filter(|_| self.grows != 0) else { return taken };
        let behind = put.value(Op::Binary(BinaryOp::Sub), &[at, from], number);
        let behind = put.resized(behind, ty);
        let by = put.body.int_const(bits, self.grows as u128);
        let grown =
            if self.grows == 1 { behind } else { put.value(Op::Binary(BinaryOp::Mul), &[behind, by], ty) };
        put.value(Op::Binary(BinaryOp::Add), &[taken, grown], ty)
    }

    /// Removes the φs that have chosen, as far as nobody uses them any more.
    pub(super) fn remove_unused(&self, body: &mut Function, used: &[Value]) {
        for &choice in self.choices.iter().rev() {
            let (block, result) = (body.insts[choice].block, body.insts[choice].results[0]);
            if body.insts[choice].op == Op::Phi && !used.contains(&result) && !is_used(body, result) {
                body.retain_phis(block, |phi| phi != choice);
            }
        }
    }
}

/// By how much a value is more than a φ, in every iteration.
fn growth(module: &Module, func: &Function, l: &Loop, phi: Value, v: Value) -> Option<i128> {
    if v == phi {
        return Some(0);
    }
    let (of, Growth::Constant(by), _) = l.addition(module, func, func.def_inst(v)?)? else { return None };
    (of == phi && matches!(func.ty(phi), Type::Int(8..=64))).then_some(by)
}

/// What has been made of choices: the value, whether it is what was held, and what it is otherwise.
struct Chosen<'a> {
    kept: &'a [Value],
    made: Vec<(Value, Value, Value)>,
}

impl Chosen<'_> {
    /// Whether a value is what was held, and what it is otherwise.
    fn of(&self, body: &mut Function, v: Value) -> (Value, Value) {
        if let Some(&(_, keeps, value)) = self.made.iter().find(|made| made.0 == v) {
            return (keeps, value);
        }
        let is_kept = self.kept.contains(&v);
        let value = if is_kept { body.poison(body.ty(v)) } else { v };
        (body.bool_const(is_kept), value)
    }

    fn add_phis(&mut self, body: &mut Function, choice: Inst) {
        let (block, old) = (body.insts[choice].block, body.insts[choice].results[0]);
        let ty = body.ty(old);
        let [keeps, value] = [Type::BOOL, ty].map(|ty| body.add_phi(block, ty));
        self.made.push((old, keeps, value));
    }

    fn fill_phis(&self, body: &mut Function, choice: Inst) {
        let old = body.insts[choice].results[0];
        let new = self.of(body, old);
        let all: Vec<(Edge, Value)> = incoming(body, choice).collect();
        for (e, v) in all {
            let way = self.of(body, v);
            for (new, way) in [(new.0, way.0), (new.1, way.1)] {
                let at = body.def_inst(new).and_then(|i| body.phi_position(i));
                body.set_phi_arg(e, at.expect("it is a φ"), way);
            }
        }
    }

    fn select(&mut self, body: &mut Function, choice: Inst) {
        let (block, old) = (body.insts[choice].block, body.insts[choice].results[0]);
        let [condition, yes, no] = [0, 1, 2].map(|k| body.insts[choice].args[k]);
        let [yes, no] = [yes, no].map(|v| self.of(body, v));
        let ty = body.ty(old);
        let mut put = Put::at(body, (block, 0));
        put.go_behind(&[old]);
        // One answer for both questions.
        let condition = put.value(Op::Freeze, &[condition], Type::BOOL);
        let keeps = put.value(Op::Select, &[condition, yes.0, no.0], Type::BOOL);
        let value = match (put.body.is_poison(yes.1), put.body.is_poison(no.1)) {
            (true, _) => no.1,
            (_, true) => yes.1,
            _ => put.value(Op::Select, &[condition, yes.1, no.1], ty),
        };
        self.made.push((old, keeps, value));
    }
}
