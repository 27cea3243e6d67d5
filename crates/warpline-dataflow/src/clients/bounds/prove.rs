//! Proofs of inequalities between values, on demand (Bodík, Gupta, Sarkar 2000, *ABCD: Eliminating Array Bounds
//! Checks on Demand*).
//!
//! The question is whether `v ≤ t + c` for a version `v` of a value, a value `t` and a number `c`, wherever both hold
//! a value. All values are taken as the natural numbers that their bits are, of any width. The answer follows the
//! inequality graph backwards from `v`: what a version was computed from, what an edge told of it, the operands of a
//! φ. The graph is never built.
//!
//! * At a φ the inequality must hold of *all* operands, else *one* way to prove it is enough.
//! * A cycle is met when the proof asks again for a version that it is about to prove. If it asks for no more than that
//!   (`c` has not become less) then it holds by induction on the length of the run; else values may grow without
//!   bound around the loop, and this way fails.
//!
//! Departures from the paper, and what makes them sound:
//!
//! * The paper's lengths of arrays never change; here `t` is any value. Around a loop, an earlier value of `t` would
//!   be compared. So φs are only followed where the block of the definition of `t` strictly dominates theirs: then no
//!   operand is older than `t`.
//! * Wrapping: as natural numbers, `x + y` modulo 2ⁿ never exceeds the exact sum. So upper bounds pass through every
//!   addition, but through a subtraction only if it does not wrap, by its flag, by ranges, or by a proof that starts
//!   afresh.
//! * Signed comparisons are unsigned ones where ranges say that the smaller side is not negative.
//! * Bounds also pass through extensions, parts, divisions, shifts to the right, minima, masks and selections;
//!   through `a + (b − a) / 2` and `(a + b) / 2`, which the paper's differences do not express; and through what
//!   ranges say of any version.
//!
//! Everything is true whenever the values are not poison; a branch on poison is undefined behaviour.

use smallvec::SmallVec;
use warpline_analysis::dataflow::{Instruction, SparseForward, Variable};
use warpline_analysis::ssi::{Ssi, Version, VersionDef};
use warpline_analysis::{DomTree, EdgeId, Graph, Node};

use crate::Code;
use crate::clients::edges::{Condition, EdgeConditions, Operand};
use crate::clients::intrinsics::{Calls, Intrinsic};
use crate::clients::ranges::{self, Range, arithmetic};
use warpline_ir::{BinaryOp, CastOp, Edge, Function, Inst, InstFlags, IntPred, Op, Value, ValueDef};

/// How many steps a proof may take.
const FUEL: u32 = 400;

/// How deep proofs that start afresh may be nested.
const DEPTH: u32 = 3;

/// What proofs are made of: a function, its versions and what is known of them.
pub struct Prover<'a> {
    func: &'a Function,
    code: &'a Code,
    ssi: &'a Ssi,
    facts: &'a SparseForward<ranges::Fact>,
    edges: &'a EdgeConditions,
    calls: &'a Calls,
    dominators: DomTree,
    /// The number of each instruction in the program.
    numbers: Vec<Option<Instruction>>,
}

/// A step of a proof that is worth telling.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A comparison holds on an edge.
    Compared(Edge, IntPred, Value, Value),
    /// A result is exact on an edge, since a flag is not set.
    Exact(Edge, Value),
    /// All values that a φ may have.
    Phi(Value),
    /// A value is computed from others.
    Computed(Value),
    /// The range of a value.
    Range(Value, Range),
}

/// One proof: what is to be shown of all versions that are met.
struct Proof<'p, 'a> {
    prover: &'p Prover<'a>,
    target: Value,
    fuel: u32,
    depth: u32,
    active: Vec<(Version, i128)>,
    steps: Vec<Step>,
}

impl<'a> Prover<'a> {
    /// Prepares proofs on a solution of the ranges of a function.
    pub fn new(
        func: &'a Function,
        code: &'a Code,
        ssi: &'a Ssi,
        facts: &'a SparseForward<ranges::Fact>,
        edges: &'a EdgeConditions,
        calls: &'a Calls,
    ) -> Prover<'a> {
        let mut numbers = vec![None; func.insts.len()];
        for at in (0..code.program().instructions() as u32).map(Instruction) {
            numbers[code.inst(at).as_u32() as usize] = Some(at);
        }
        let dominators = DomTree::compute(code.program().graph());
        Prover { func, code, ssi, facts, edges, calls, dominators, numbers }
    }

    /// The version of a value that the branch at the end of a block tests.
    pub fn tested(&self, node: Node, operand: Operand) -> Option<Version> {
        match operand.test {
            None => Some(Version(operand.value.as_u32())),
            Some(at) => self.ssi.tested(self.code.program().test_slots(node).start + at as usize),
        }
    }

    /// Proves that `v ≤ t + c`; the steps of the proof, or `None` if none was found.
    pub fn at_most(&self, v: Version, t: Value, c: i128) -> Option<Vec<Step>> {
        self.at_most_within(v, t, c, DEPTH)
    }

    /// Proves that the second operand of an instruction is at most the first.
    pub(crate) fn operands_in_order(&self, inst: Inst) -> Option<Vec<Step>> {
        self.at_most(self.used(inst, 1)?, self.func.insts[inst].args[0], 0)
    }

    fn at_most_within(&self, v: Version, t: Value, c: i128, depth: u32) -> Option<Vec<Step>> {
        let depth = depth.checked_sub(1)?;
        let mut told = Vec::new();
        for (t, c, by) in self.targets(t, c) {
            let mut proof =
                Proof { prover: self, target: t, fuel: FUEL, depth, active: Vec::new(), steps: Vec::new() };
            if proof.shows(v, c) {
                told.extend(proof.steps);
                told.extend(by);
                return Some(told);
            }
        }
        None
    }

    /// `t + c` itself, and what is at most that: by how `t` was computed.
    fn targets(&self, t: Value, c: i128) -> SmallVec<[(Value, i128, Option<Step>); 4]> {
        let mut all: SmallVec<[(Value, i128, Option<Step>); 4]> = SmallVec::new();
        all.push((t, c, None));
        let mut next = 0;
        while let Some(&(t, c, _)) = all.get(next).filter(|_| next < 4) {
            next += 1;
            let Some(inst) = self.func.def_inst(t) else { continue };
            let data = &self.func.insts[inst];
            let range = |k: usize| self.used(inst, k).and_then(|v| self.range(v));
            let step = Some(Step::Computed(t));
            match data.op {
                Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) => {
                    let (Some(a), Some(b)) = (range(0), range(1)) else { continue };
                    let is_exact = data.flags.contains(InstFlags::NUW)
                        || arithmetic::wraps(op, false, &a, &b) == Some(false);
                    if !is_exact {
                        continue;
                    }
                    let natural = |v: u128| i128::try_from(v).ok();
                    if op == BinaryOp::Add {
                        all.extend(natural(b.low()).map(|b| (data.args[0], c.saturating_add(b), step)));
                        all.extend(natural(a.low()).map(|a| (data.args[1], c.saturating_add(a), step)));
                    } else {
                        all.extend(natural(b.high()).map(|b| (data.args[0], c.saturating_sub(b), step)));
                    }
                }
                Op::Cast(CastOp::ZExt) => all.push((data.args[0], c, step)),
                Op::Call(_) if self.calls.get(inst) == Some(Intrinsic::UMax) => {
                    all.push((data.args[0], c, step));
                    all.push((data.args[1], c, step));
                }
                _ => {}
            }
        }
        all
    }

    fn value(&self, v: Version) -> Option<Value> {
        self.code.value(self.ssi.variable(v))
    }

    /// The version that an operand of an instruction is; `None` if it holds nothing.
    pub fn used(&self, inst: Inst, operand: usize) -> Option<Version> {
        let at = self.numbers[inst.as_u32() as usize]?;
        self.ssi.used(self.code.program().use_slots(at).start + operand)
    }

    /// The range of a version; `None` if it is no integer or never computed.
    fn range(&self, v: Version) -> Option<Range> {
        self.facts.fact(v).range().copied()
    }

    /// Whether a value is there in every block in which control comes to a φ of `node`, and never renewed in between.
    fn is_older(&self, t: Value, node: Node) -> bool {
        match self.func.values[t].def {
            ValueDef::Param(_) | ValueDef::Const(_) => true,
            ValueDef::Inst(inst, _) => {
                let block = Node::from(self.func.insts[inst].block);
                self.dominators.strictly_dominates(block, node)
            }
        }
    }
}

impl Proof<'_, '_> {
    /// Whether `v ≤ target + c`.
    fn shows(&mut self, v: Version, c: i128) -> bool {
        let Some(value) = self.prover.value(v) else { return false };
        if value == self.target && c >= 0 {
            return true;
        }
        if self.fuel == 0 {
            return false;
        }
        self.fuel -= 1;
        let range = self.prover.range(v);
        let target = self.prover.range(Version(self.target.as_u32()));
        if let (Some(range), Some(target)) = (range, target)
            && let (Ok(high), Ok(low)) = (i128::try_from(range.high()), i128::try_from(target.low()))
            && high <= low.saturating_add(c)
        {
            if self.prover.func.constant(value).is_none() {
                self.steps.push(Step::Range(value, range));
            }
            return true;
        }
        if let Some(&(_, known)) = self.active.iter().rev().find(|&&(a, _)| a == v) {
            return c >= known;
        }
        self.active.push((v, c));
        let steps = self.steps.len();
        let shown = self.shows_by_definition(v, value, c);
        if !shown {
            self.steps.truncate(steps);
        }
        self.active.pop();
        shown
    }

    /// As [`Proof::shows`] of an operand of an instruction.
    fn shows_operand(&mut self, inst: Inst, operand: usize, c: i128) -> bool {
        self.prover.used(inst, operand).is_some_and(|v| self.shows(v, c))
    }

    /// The same, and tells why it matters.
    fn step(&mut self, step: Step, shows: impl FnOnce(&mut Self) -> bool) -> bool {
        let at = self.steps.len();
        self.steps.push(step);
        let shown = shows(self);
        if !shown {
            self.steps.truncate(at);
        }
        shown
    }

    fn shows_by_definition(&mut self, v: Version, value: Value, c: i128) -> bool {
        let prover = self.prover;
        match prover.ssi.definition(v) {
            VersionDef::Sigma(edge) => {
                self.shows_by_edge(edge, value, c)
                    || prover.ssi.operands(v).next().flatten().is_some_and(|u| self.shows(u, c))
            }
            VersionDef::Copy(_) => prover.ssi.operands(v).next().flatten().is_some_and(|u| self.shows(u, c)),
            VersionDef::Phi(node) => {
                let edges = prover.code.program().graph().in_edges(node).iter().copied();
                let operands: SmallVec<[_; 4]> = edges.zip(prover.ssi.operands(v)).collect();
                self.shows_all(node, None, &operands, c)
            }
            VersionDef::Actual => match prover.func.values[value].def {
                ValueDef::Inst(inst, _) if prover.func.insts[inst].op == Op::Phi => {
                    let node = Node::from(prover.func.insts[inst].block);
                    let program = prover.code.program();
                    let operand = |&e: &EdgeId| {
                        let variable = Variable(value.as_u32());
                        let at = program.phis(e).iter().position(|p| p.result == variable)?;
                        Some((e, prover.ssi.phi_operand(program.phi_slots(e).start + at)))
                    };
                    let edges = program.graph().in_edges(node);
                    let operands: SmallVec<[_; 4]> = edges.iter().filter_map(operand).collect();
                    operands.len() == edges.len() && self.shows_all(node, Some(value), &operands, c)
                }
                ValueDef::Inst(inst, _) => self.shows_by_instruction(inst, value, c),
                _ => false,
            },
        }
    }

    /// A φ: whether it holds of all operands on edges that control takes.
    fn shows_all(
        &mut self,
        node: Node,
        value: Option<Value>,
        operands: &[(EdgeId, Option<Version>)],
        c: i128,
    ) -> bool {
        let prover = self.prover;
        if !prover.is_older(self.target, node) {
            return false;
        }
        let mut taken = operands.iter().filter(|(e, _)| prover.facts.is_taken(*e));
        let at = self.steps.len();
        self.steps.extend(value.map(Step::Phi));
        // An operand that holds nothing is poison.
        let shown = taken.all(|&(_, operand)| operand.is_none_or(|u| self.shows(u, c)));
        if !shown {
            self.steps.truncate(at);
        }
        shown
    }

    /// What an edge tells of a value.
    fn shows_by_edge(&mut self, edge: EdgeId, value: Value, c: i128) -> bool {
        let prover = self.prover;
        let node = prover.code.program().graph().source(edge);
        let e = prover.code.edge(edge);
        prover.edges.get(edge).iter().any(|&condition| match condition {
            Condition::Compare(pred, a, b) => {
                let sides = [(pred, a, b), (crate::conditions::swapped(pred), b, a)];
                sides.into_iter().filter(|(_, x, _)| x.value == value).any(|(pred, x, y)| {
                    let Some(below) = self.natural(node, pred, x) else { return false };
                    let Some(other) = prover.tested(node, y) else { return false };
                    let step = Step::Compared(e, pred, x.value, y.value);
                    let Some(c) = c.checked_add(below) else { return false };
                    self.step(step, |p| p.shows(other, c))
                })
            }
            Condition::Exact { op, is_signed: false, values: [result, a, b] } => {
                let step = Step::Exact(e, result.value);
                let bounds =
                    |o: Operand| prover.tested(node, o).and_then(|v| prover.range(v)).and_then(naturals);
                let mut from = |other: Operand, c: Option<i128>| {
                    let (Some(v), Some(c)) = (prover.tested(node, other), c) else { return false };
                    self.step(step, |p| p.shows(v, c))
                };
                let (x, y, z) = (bounds(result), bounds(a), bounds(b));
                match op {
                    BinaryOp::Sub if value == result.value => from(a, z.and_then(|z| c.checked_add(z.0))),
                    BinaryOp::Sub if value == b.value => from(a, x.and_then(|x| c.checked_add(x.0))),
                    BinaryOp::Sub if value == a.value => from(result, z.and_then(|z| c.checked_sub(z.1))),
                    BinaryOp::Add if value == a.value => from(result, z.and_then(|z| c.checked_add(z.0))),
                    BinaryOp::Add if value == b.value => from(result, y.and_then(|y| c.checked_add(y.0))),
                    _ => false,
                }
            }
            _ => false,
        })
    }

    /// By how much natural numbers are less if a comparison holds: 1 for less, 0 for at most. `None` if it does not
    /// tell, as signed ones do of numbers that may be negative.
    fn natural(&self, node: Node, pred: IntPred, a: Operand) -> Option<i128> {
        let is_natural = |o: Operand| {
            let range = self.prover.tested(node, o).and_then(|v| self.prover.range(v));
            range.is_some_and(|r| r.is_not_negative())
        };
        match pred {
            IntPred::Ult => Some(1),
            IntPred::Ule | IntPred::Eq => Some(0),
            // If the smaller one is not negative, the greater one is not either.
            IntPred::Slt if is_natural(a) => Some(1),
            IntPred::Sle if is_natural(a) => Some(0),
            _ => None,
        }
    }

    fn shows_by_instruction(&mut self, inst: Inst, value: Value, c: i128) -> bool {
        let prover = self.prover;
        let data = &prover.func.insts[inst];
        let is_natural = |k: usize| {
            prover.used(inst, k).and_then(|v| prover.range(v)).is_some_and(|r| r.is_not_negative())
        };
        let step = Step::Computed(value);
        match &data.op {
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) => {
                self.step(step, |p| p.shows_sum(*op, data.flags, inst, c))
            }
            Op::Binary(BinaryOp::UDiv | BinaryOp::LShr) => {
                self.step(step, |p| p.shows_operand(inst, 0, c) || p.shows_middle(inst, c))
            }
            Op::Binary(BinaryOp::SDiv | BinaryOp::AShr) if is_natural(0) && is_natural(1) => {
                self.step(step, |p| p.shows_operand(inst, 0, c))
            }
            Op::Binary(BinaryOp::URem) => self
                .step(step, |p| p.shows_operand(inst, 1, c.saturating_add(1)) || p.shows_operand(inst, 0, c)),
            Op::Binary(BinaryOp::And) => {
                self.step(step, |p| p.shows_operand(inst, 0, c) || p.shows_operand(inst, 1, c))
            }
            Op::Cast(CastOp::ZExt | CastOp::Trunc) => self.shows_operand(inst, 0, c),
            Op::Cast(CastOp::SExt) if is_natural(0) => self.shows_operand(inst, 0, c),
            Op::Select => self.step(step, |p| p.shows_operand(inst, 1, c) && p.shows_operand(inst, 2, c)),
            Op::ExtractValue(path) if **path == [0] => {
                let call = prover.func.def_inst(data.args[0]);
                match call.and_then(|call| Some((call, prover.calls.get(call)?))) {
                    Some((call, Intrinsic::Overflow(op @ (BinaryOp::Add | BinaryOp::Sub), _))) => {
                        self.step(step, |p| p.shows_sum(op, InstFlags::empty(), call, c))
                    }
                    _ => false,
                }
            }
            Op::Call(_) => match prover.calls.get(inst) {
                Some(Intrinsic::UMin) => {
                    self.step(step, |p| p.shows_operand(inst, 0, c) || p.shows_operand(inst, 1, c))
                }
                Some(Intrinsic::SMin) if is_natural(0) && is_natural(1) => {
                    self.step(step, |p| p.shows_operand(inst, 0, c) || p.shows_operand(inst, 1, c))
                }
                Some(Intrinsic::UMax) => {
                    self.step(step, |p| p.shows_operand(inst, 0, c) && p.shows_operand(inst, 1, c))
                }
                Some(Intrinsic::USubSat | Intrinsic::First) => self.shows_operand(inst, 0, c),
                _ => false,
            },
            _ => false,
        }
    }

    /// A sum or difference of the first two operands of an instruction.
    fn shows_sum(&mut self, op: BinaryOp, flags: InstFlags, inst: Inst, c: i128) -> bool {
        let prover = self.prover;
        let operand = |k: usize| prover.used(inst, k).and_then(|v| Some((v, prover.range(v)?)));
        let (Some((x, a)), Some((y, b))) = (operand(0), operand(1)) else { return false };
        let (Some((_, a_high)), Some((b_low, b_high))) = (naturals(a), naturals(b)) else { return false };
        if op == BinaryOp::Sub {
            let is_exact = flags.contains(InstFlags::NUW)
                || arithmetic::wraps(op, false, &a, &b) == Some(false)
                || self.shows_order(y, x, 0);
            return is_exact && c.checked_add(b_low).is_some_and(|c| self.shows(x, c));
        }
        // A sum that always wraps is a difference.
        let wrapped = match arithmetic::wraps(op, false, &a, &b) {
            Some(true) if a.bits() < 126 => 1i128 << a.bits(),
            _ => 0,
        };
        c.checked_add(wrapped - b_high).is_some_and(|c| self.shows(x, c))
            || c.checked_add(wrapped - a_high).is_some_and(|c| self.shows(y, c))
            || self.shows_midpoint(inst, c)
    }

    /// Whether `a + less ≤ b` for two versions, by a proof of its own.
    fn shows_order(&mut self, a: Version, b: Version, less: i128) -> bool {
        let Some(target) = self.prover.value(b) else { return false };
        // What is known of `b` at this place only is told by its range.
        let told = self.prover.at_most_within(a, target, -less, self.depth);
        let shown = told.is_some();
        self.steps.extend(told.into_iter().flatten());
        shown
    }

    /// `a + (b − a) / k` or `a + (b − a) >> k`: at most `b` if `a` is, and less if `a` is.
    fn shows_midpoint(&mut self, inst: Inst, c: i128) -> bool {
        let prover = self.prover;
        let args = &prover.func.insts[inst].args;
        [(0, 1), (1, 0)].into_iter().any(|(first, second)| {
            let Some(half) = prover.func.def_inst(args[second]) else { return false };
            let Some(difference) = halved(prover.func, half).and_then(|d| prover.func.def_inst(d)) else {
                return false;
            };
            let data = &prover.func.insts[difference];
            if data.op != Op::Binary(BinaryOp::Sub) || data.args[1] != args[first] {
                return false;
            }
            let (Some(a), Some(b)) = (prover.used(difference, 1), prover.used(difference, 0)) else {
                return false;
            };
            let at = self.steps.len();
            for (less, c) in [(1, c.saturating_add(1)), (0, c)] {
                if self.shows_order(a, b, less) && self.shows(b, c) {
                    return true;
                }
                self.steps.truncate(at);
            }
            false
        })
    }

    /// `(a + b) / 2`, where the sum may wrap, which makes it less.
    fn shows_middle(&mut self, inst: Inst, c: i128) -> bool {
        let prover = self.prover;
        let Some(sum) = halved(prover.func, inst).and_then(|s| prover.func.def_inst(s)) else { return false };
        if prover.func.insts[sum].op != Op::Binary(BinaryOp::Add) {
            return false;
        }
        let at = self.steps.len();
        for (x, y) in [(c, c.saturating_add(1)), (c.saturating_add(1), c)] {
            if self.shows_operand(sum, 0, x) && self.shows_operand(sum, 1, y) {
                return true;
            }
            self.steps.truncate(at);
        }
        false
    }
}

/// The least and the greatest number of a range, if they are small enough to compute with.
fn naturals(r: Range) -> Option<(i128, i128)> {
    Some((i128::try_from(r.low()).ok()?, i128::try_from(r.high()).ok()?))
}

/// The value of which an instruction computes at most the half.
fn halved(func: &Function, inst: Inst) -> Option<Value> {
    let data = &func.insts[inst];
    let by = |k| data.args.get(k).and_then(|&v| func.as_int(v));
    match data.op {
        Op::Binary(BinaryOp::UDiv) if by(1)? >= 2 => Some(data.args[0]),
        Op::Binary(BinaryOp::LShr) if by(1)? >= 1 => Some(data.args[0]),
        _ => None,
    }
}
