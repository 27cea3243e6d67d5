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

use warpline_analysis::Node;
use warpline_ir::{BinaryOp, Block, Combine, Edge, Function, Inst, IntPred, LaneOp, Op, Type, Value};

use super::carried::Dependent;
use super::chosen::in_order;
use super::compaction::is_used;
use super::find::Loop;
use super::put::Put;
use super::selections::incoming;

/// So many choices lead to what is held at most.
const MOST: usize = 32;
const NUMBER: u32 = 32;

/// How a φ of the header is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Held {
    /// The `select`s and φs that choose between it and other values, in the order of execution.
    choices: Vec<Inst>,
}

impl Held {
    /// How the φ of the header at a position is held: if it becomes itself or one of the values that do not depend on
    /// it, by conditions that do not either, in every iteration.
    pub(super) fn of(func: &Function, l: &Loop, position: usize) -> Option<Held> {
        let phi = func.insts[func.blocks[l.header].phis[position]].results[0];
        let next = func.edges[l.back].args[position];
        let dependent = Dependent::of(func, &l.users(func), phi);
        let is_other = |v: Value| !dependent.values.contains(v);
        func.def_inst(next).filter(|&i| l.is_always(func, func.insts[i].block))?;
        let (mut choices, mut work, mut keeps) = (Vec::new(), vec![next], false);
        while let Some(v) = work.pop() {
            keeps |= v == phi;
            if v == phi || is_other(v) {
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
        (keeps && moves && !choices.is_empty()).then_some(Held { choices })
    }

    /// Makes what each lane holds behind its iteration, and what is held behind the group, in the function of one
    /// iteration, from what was held before the group.
    pub(super) fn emit(
        &self,
        body: &mut Function,
        (phi, next): (Value, Value),
        carry: Value,
        lane: Value,
    ) -> [Value; 2] {
        let mut chosen = Chosen { phi, made: Vec::new() };
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
        let block = body.def_block(next).expect("something is chosen");
        let mut put = Put::at(body, (block, 0));
        put.go_behind(&[keeps, value]);
        let (ty, number) = (put.body.ty(phi), Type::Int(NUMBER));
        // Counted from 1, so that vectors of them are shifted with zeros behind them.
        let [none, one] = [0, 1].map(|n| put.body.int_const(NUMBER, n));
        let numbered = put.value(Op::Binary(BinaryOp::Add), &[lane, one], number);
        let own = put.value(Op::Select, &[keeps, none, numbered], number);
        let from = put.value(Op::Lane(LaneOp::ScanInclusive(Combine::UMax)), &[own], number);
        let is_old = put.value(Op::ICmp(IntPred::Eq), &[from, none], Type::BOOL);
        let from = put.value(Op::Binary(BinaryOp::Sub), &[from, one], number);
        let there = put.value(Op::Lane(LaneOp::Shuffle), &[value, from], ty);
        let held = put.value(Op::Select, &[is_old, carry, there], ty);
        // Behind the group: nothing but a choice waits for the group before.
        let greatest = put.value(Op::Lane(LaneOp::Reduce(Combine::UMax)), &[own], number);
        let is_old = put.value(Op::ICmp(IntPred::Eq), &[greatest, none], Type::BOOL);
        let place = put.value(Op::Binary(BinaryOp::Sub), &[greatest, one], number);
        let last = put.value(Op::Lane(LaneOp::Shuffle), &[value, place], ty);
        [held, put.value(Op::Select, &[is_old, carry, last], ty)]
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

/// What has been made of choices: the value, whether it is the φ's, and what it is otherwise.
struct Chosen {
    phi: Value,
    made: Vec<(Value, Value, Value)>,
}

impl Chosen {
    /// Whether a value is the φ's, and what it is otherwise.
    fn of(&self, body: &mut Function, v: Value) -> (Value, Value) {
        if let Some(&(_, keeps, value)) = self.made.iter().find(|made| made.0 == v) {
            return (keeps, value);
        }
        let value = if v == self.phi { body.poison(body.ty(v)) } else { v };
        (body.bool_const(v == self.phi), value)
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
