//! The function with the loop, rewritten: groups of iterations first, then the loop as it was.
//!
//! ```text
//!   preheader:  rounds = how often the test lets the loop go on, or 0 if a check of pointers fails;
//!               br rounds != 0, begin, scalar
//!   begin:      br groups != 0, lanes, left                       ; groups = rounds / W
//!   lanes:      φs of the state; call of the W-lane form;         br more groups, lanes, left
//!   left:       φs of the state;                                  br rounds % W != 0, rest, done
//!   rest:       call of the W-lane form under a mask;             br done
//!   done:       φs of the state; lanes of reductions combined;    br scalar
//!   scalar:     φs of the state;                                  br header
//! ```
//!
//! Where what is left over is to be taken in smaller groups, `left` is the beginning of a second loop like `lanes`,
//! `smaller`, and behind that, `last` asks what is still left for `rest`, which is as wide as these groups.
//!
//! If groups are to begin where stores are aligned, all from `lanes` to `done` is done twice: for the iterations
//! before that, and for the others.
//!
//! ```text
//!   begin:      br start
//!   start:      φs of the state, left = φ rounds; now = lead or left
//!   ...
//!   done:       φs of the state;                                  br left - now != 0, start, finish
//! ```
//!
//! The state of an induction is its value in the next iteration, that of a reduction a vector, that of what lanes
//! pass on to each other the value of the last iteration. The scalar loop goes on from there: as a rule it executes
//! nothing but the part of the last iteration that precedes the test, and all that leaves the loop leaves it as
//! before.

use crate::builder::Builder;
use crate::dependences::{Check, span};
use crate::driver::{Form, Forms, before_whole_groups};
use warpline_ir::{
    BinaryOp, Block, CastOp, Combine, Constant, FuncId, Function, InstFlags, IntPred, Module, Op, Type, Value,
};

use super::body::{Body, Input};
use super::carried::{Carried, Combiner, Kind};
use super::find::Loop;
use super::trips::Counter;
use crate::dependences::Growth;

/// What the rewriting puts together.
pub(super) struct Parts<'a> {
    pub(super) l: &'a Loop,
    pub(super) counter: &'a Counter,
    pub(super) carried: &'a [Carried],
    pub(super) body: &'a Body,
    pub(super) forms: &'a Forms,
    /// What must hold, or the loop runs as it was.
    pub(super) checks: &'a [Check],
}

/// Rewrites the function; the result is to take its place. Also how many arrays of indices it looks through before
/// the loop.
pub(super) fn rewrite(module: &mut Module, func: Function, parts: &Parts<'_>) -> (Function, usize) {
    let preheader = parts.l.preheader;
    let into = func.out_edges(preheader)[0];
    let starts: Vec<Value> = func.edges[into].args.to_vec();
    let mut b = Builder { module, func, at: preheader };
    let scalar = b.block("scalar");
    let finals = phis(&mut b, scalar, &starts);
    let rounds = parts.counter.rounds(&mut b, &starts);
    let checking = span::emit(&mut b, parts.checks, rounds, scalar);
    for &block in &checking.failing {
        pass_from(&mut b, block, scalar, &starts);
    }
    let checked = b.at;
    let begin = b.block("begin");
    let zero = b.int(64, 0);
    let some = b.icmp(IntPred::Ne, rounds, zero);
    b.cond_br(some, begin, scalar);
    pass_from(&mut b, checked, scalar, &starts);

    b.at = begin;
    let mut before: Vec<Value> = (0..starts.len()).map(|k| parts.initial(&mut b, k, starts[k])).collect();
    let mut new = checking.blocks;
    new.push(begin);
    let start = parts.forms.lead.map(|lead| parts.start(&mut b, lead, &before, rounds));
    let mut over = rounds;
    if let Some(start) = &start {
        new.push(start.block);
        (before, over) = (start.state.clone(), start.now);
    }
    for (&form, names) in parts.forms.groups.iter().zip([["lanes", "left"], ["smaller", "last"]]) {
        let [lanes, left] = names.map(|name| b.block(name));
        (before, over) = parts.whole_groups(&mut b, form, &before, over, [lanes, left]);
        new.extend([lanes, left]);
    }
    let (rest, done) = (b.block("rest"), b.block("done"));
    new.extend([rest, done]);
    let left = b.at;
    let some = b.icmp(IntPred::Ne, over, zero);
    b.cond_br(some, rest, done);
    let last = phis(&mut b, done, &before);
    pass_from(&mut b, left, done, &before);

    b.at = rest;
    let behind = parts.group(&mut b, parts.forms.rest, &before, Some(over));
    b.br(done);
    b.pass(&behind);

    b.at = done;
    if let Some(start) = start {
        let finish = b.block("finish");
        new.push(finish);
        start.again(&mut b, &last, finish);
    }
    new.push(scalar);
    let values: Vec<Value> = (0..last.len()).map(|k| parts.whole(&mut b, k, last[k])).collect();
    b.br(scalar);
    b.pass(&values);

    b.at = scalar;
    b.br(parts.l.header);
    b.pass(&finals);
    place_before(&mut b.func, parts.l.header, &new);
    let loc = b.func.insts[parts.l.test].loc;
    for block in new.into_iter().chain([preheader]) {
        for i in b.func.block_insts(block).collect::<Vec<_>>() {
            let own = &mut b.func.insts[i].loc;
            *own = own.expand().or(loc.expand()).into();
        }
    }
    (b.func, checking.inspected)
}

/// φs for values of these types; in-edges are given their operands later.
fn phis(b: &mut Builder, block: Block, like: &[Value]) -> Vec<Value> {
    like.iter()
        .map(|&v| {
            let ty = b.func.ty(v);
            b.func.add_phi(block, ty)
        })
        .collect()
}

/// Sets the operands on the edge between two blocks.
fn pass_from(b: &mut Builder, from: Block, to: Block, args: &[Value]) {
    let edges = b.func.out_edges(from).to_vec();
    for e in edges {
        if b.func.edges[e].to != to {
            continue;
        }
        for (k, &v) in args.iter().enumerate() {
            b.func.set_phi_arg(e, k, v);
        }
    }
}

/// Moves new blocks to where they are executed.
fn place_before(func: &mut Function, header: Block, blocks: &[Block]) {
    func.layout.retain(|b| !blocks.contains(b));
    let at = func.layout.iter().position(|&b| b == header).unwrap_or(func.layout.len());
    func.layout.splice(at..at, blocks.iter().copied());
}

/// Where the iterations of a lead begin, and again the others.
struct Start {
    block: Block,
    state: Vec<Value>,
    /// How many are left, and how many of these are executed now.
    left: Value,
    now: Value,
}

impl Start {
    /// Goes back for what is left, or else on to this block.
    fn again(&self, b: &mut Builder, state: &[Value], finish: Block) {
        let later = b.binary(BinaryOp::Sub, self.left, self.now, InstFlags::NUW);
        let zero = b.int(64, 0);
        let more = b.icmp(IntPred::Ne, later, zero);
        b.cond_br(more, self.block, finish);
        let passed: Vec<Value> = state.iter().copied().chain([later]).collect();
        b.pass(&passed);
        b.at = finish;
    }
}

impl Parts<'_> {
    /// The block where the iterations of a lead begin, and again the others.
    fn start(&self, b: &mut Builder, lead: FuncId, initial: &[Value], rounds: Value) -> Start {
        let block = b.block("start");
        let state = phis(b, block, initial);
        let left = b.func.add_phi(block, Type::Int(64));
        b.br(block);
        let passed: Vec<Value> = initial.iter().copied().chain([rounds]).collect();
        b.pass(&passed);
        b.at = block;
        let args: Vec<Value> = self.arguments(&state);
        let lead = b.call(lead, &args).expect("a lead is a number");
        let now = before_whole_groups(b, self.forms, lead, left);
        Start { block, state, left, now }
    }

    /// What the forms are given.
    fn arguments(&self, state: &[Value]) -> Vec<Value> {
        let inputs = self.body.inputs.iter();
        inputs
            .map(|&i| match i {
                Input::Value(v) => v,
                Input::Carried(k) => state[k],
            })
            .collect()
    }

    /// The loop over whole groups of some of so many iterations, in the second of two blocks. The state behind it and
    /// how many iterations are left over, in the third block.
    fn whole_groups(
        &self,
        b: &mut Builder,
        form: Form,
        initial: &[Value],
        rounds: Value,
        [lanes, left]: [Block; 2],
    ) -> (Vec<Value>, Value) {
        let begin = b.at;
        let (zero, one, width) = (b.int(64, 0), b.int(64, 1), b.int(64, form.lanes.into()));
        let groups = b.binary(BinaryOp::UDiv, rounds, width, InstFlags::empty());
        let over = b.binary(BinaryOp::URem, rounds, width, InstFlags::empty());
        let whole = b.icmp(IntPred::Ne, groups, zero);
        b.cond_br(whole, lanes, left);
        let group = b.func.add_phi(lanes, Type::Int(64));
        let before = phis(b, lanes, initial);
        let passed: Vec<Value> = std::iter::once(zero).chain(initial.iter().copied()).collect();
        b.pass(&passed);

        b.at = lanes;
        let behind = self.group(b, form, &before, None);
        let next = b.binary(BinaryOp::Add, group, one, InstFlags::NUW);
        let more = b.icmp(IntPred::Ult, next, groups);
        b.cond_br(more, lanes, left);
        let passed: Vec<Value> = std::iter::once(next).chain(behind.iter().copied()).collect();
        b.pass(&passed);

        b.at = left;
        let state = phis(b, left, initial);
        pass_from(b, begin, left, initial);
        pass_from(b, lanes, left, &behind);
        (state, over)
    }

    /// The parameter of the widest form that takes the state of a φ.
    fn param_type(&self, b: &Builder, k: usize) -> Type {
        let at = self.body.inputs.iter().position(|&i| i == Input::Carried(k));
        let form = &b.module.functions[self.forms.groups[0].func];
        at.map_or(Type::Void, |at| form.ty(form.params[at]))
    }

    /// The state before the first group.
    fn initial(&self, b: &mut Builder, k: usize, start: Value) -> Value {
        let Kind::Reduction { combiner, .. } = &self.carried[k].kind else { return start };
        let ty = b.func.ty(start);
        if self.param_type(b, k) == ty {
            return start;
        }
        // What may be combined with itself needs no neutral element.
        let neutral = match combiner.combine {
            Combine::Add | Combine::Mul | Combine::Xor => {
                b.func.constant_value(Constant::number(ty, combiner.combine.neutral(ty)))
            }
            _ => return b.splat(start, self.forms.groups[0].lanes),
        };
        let all = b.splat(neutral, self.forms.groups[0].lanes);
        let first = b.int(32, 0);
        let vector = b.func.ty(all);
        b.value(Op::InsertElement, &[all, start, first], vector)
    }

    /// Calls a form for a group, of which only the first `count` iterations are there if that is given. The state
    /// behind it.
    fn group(&self, b: &mut Builder, form: Form, before: &[Value], count: Option<Value>) -> Vec<Value> {
        let width = form.lanes;
        let mut args = self.arguments(before);
        let mask = count.map(|count| mask(b, count, width));
        if let Some(mask) = mask {
            args.push(b.mask_argument(mask, width));
        }
        let result = b.call(form.func, &args);
        let last = match count {
            Some(count) => {
                let one = b.int(64, 1);
                b.binary(BinaryOp::Sub, count, one, InstFlags::empty())
            }
            None => b.int(64, i64::from(width) - 1),
        };
        (0..before.len())
            .map(|k| {
                let given = self.body.outputs.iter().position(|&o| o == k).zip(result);
                let Some((member, result)) = given else {
                    return self.advanced(b, k, before[k], count, width);
                };
                let new = self.member(b, result, member);
                match (&self.carried[k].kind, mask) {
                    (Kind::Reduction { .. }, Some(mask)) => where_active(b, mask, new, before[k], width),
                    (Kind::Reduction { .. }, None) => new,
                    _ if b.func.ty(new) == b.func.ty(before[k]) => new,
                    _ => {
                        let ty = b.func.ty(before[k]);
                        b.value(Op::ExtractElement, &[new, last], ty)
                    }
                }
            })
            .collect()
    }

    /// One of the values that a W-lane form returns.
    fn member(&self, b: &mut Builder, result: Value, member: usize) -> Value {
        if self.body.outputs.len() == 1 {
            return result;
        }
        let ty = b.func.ty(result);
        let ty = b.module.types.member(ty, member as u64).expect("it returns what the body does");
        b.value(Op::ExtractValue([member as u32].into()), &[result], ty)
    }

    /// An induction so many iterations later, as many as there are lanes if nothing is said.
    fn advanced(&self, b: &mut Builder, k: usize, x: Value, count: Option<Value>, width: u32) -> Value {
        let Kind::Induction { step, .. } = self.carried[k].kind else { return x };
        let ty = b.func.ty(x);
        let bits = ty.int_bits().unwrap_or(64);
        let op = match step {
            Growth::Minus(_) => BinaryOp::Sub,
            _ => BinaryOp::Add,
        };
        let distance = match (step, count) {
            (Growth::Constant(0), _) => return x,
            (Growth::Constant(by), None) => b.func.int_const(bits, (by * i128::from(width)) as u128),
            (step, count) => {
                let count = match count {
                    Some(count) if bits < 64 => b.cast(CastOp::Trunc, count, Type::Int(bits)),
                    Some(count) => count,
                    None => b.func.int_const(bits, width.into()),
                };
                let by = match step {
                    Growth::Constant(by) => b.func.int_const(bits, by as u128),
                    Growth::Value(v) | Growth::Minus(v) => v,
                };
                b.binary(BinaryOp::Mul, count, by, InstFlags::empty())
            }
        };
        match ty.is_ptr() {
            true => b.value(Op::Gep(Type::Int(8)), &[x, distance], ty),
            false => b.binary(op, x, distance, InstFlags::empty()),
        }
    }

    /// The state behind the last group as the scalar loop takes it: the lanes of a reduction combined, in a tree.
    fn whole(&self, b: &mut Builder, k: usize, state: Value) -> Value {
        let Kind::Reduction { combiner, .. } = &self.carried[k].kind else { return state };
        let Type::Vector(v) = b.func.ty(state) else { return state };
        let elem = b.func.ty(self.carried[k].phi);
        let mut parts: Vec<Value> = (0..v.lanes)
            .map(|lane| {
                let lane = b.int(32, lane.into());
                b.value(Op::ExtractElement, &[state, lane], elem)
            })
            .collect();
        while parts.len() > 1 {
            let pairs = parts.chunks(2).map(|pair| match *pair {
                [x, y] => combined(b, combiner, x, y),
                _ => pair[0],
            });
            parts = pairs.collect();
        }
        parts[0]
    }
}

/// The first `count` of so many lanes.
fn mask(b: &mut Builder, count: Value, width: u32) -> Value {
    let count = b.cast(CastOp::Trunc, count, Type::Int(32));
    let lanes = b.lanes(32, width, u128::from);
    let all = b.splat(count, width);
    b.icmp(IntPred::Ult, lanes, all)
}

fn where_active(b: &mut Builder, mask: Value, new: Value, old: Value, width: u32) -> Value {
    let ty = b.func.ty(new);
    let mask = if matches!(ty, Type::Vector(_)) { mask } else { b.mask_argument(mask, width) };
    b.value(Op::Select, &[mask, new, old], ty)
}

fn combined(b: &mut Builder, combiner: &Combiner, x: Value, y: Value) -> Value {
    combiner.combine_with(x, y, b.func.ty(x), |op, args, ty, flags| {
        let i = b.func.append(b.at, op, args, ty);
        b.func.insts[i].flags = flags;
        b.func.insts[i].results[0]
    })
}
