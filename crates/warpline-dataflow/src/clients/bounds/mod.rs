//! Which checks can never fail: of indices, slices, overflow, division and all else that panics.
//!
//! A check is a branch one side of which leads only to a function that panics. It is decided
//!
//! * by [ranges](super::ranges): the branch never goes there, or never anywhere else;
//! * by inequalities between values (ABCD, see [`prove`]): what would hold on the way to the panic contradicts what
//!   is known.
//!
//! For lattice, strategy (e-SSA: definitions and conditions, forward) and what memory, calls, poison and undef mean,
//! see [`ranges`](super::ranges), whose facts all proofs rest on. In particular a length that is loaded from memory
//! twice is two numbers; bring locals into registers first, and merge loads that nothing lies between.

mod checks;
pub mod prove;
mod report;

#[cfg(test)]
mod tests;

pub use checks::{Check, Kind, checks};
pub use report::{BoundsReport, CheckReport};

use warpline_analysis::dataflow::{SparseForward, solve_forward_narrowing};
use warpline_analysis::ssi::{Ssi, ssify};
use warpline_analysis::{EdgeId, Graph, Node};

use super::edges::{Condition, EdgeConditions};
use super::intrinsics::{Calls, Intrinsic};
use super::ranges::{Assumptions, Fact, Ranges};
use crate::Code;
use crate::report::{Description, Direction, Kind as ProblemKind, Work};
use prove::{Prover, Step};
use warpline_ir::{BinaryOp, Function, IntPred, Module, Op, Value};

/// What this client is.
pub const DESCRIPTION: Description = Description {
    name: "bounds",
    question: "Which checks of indices, slices, overflow and the like can never fail?",
    direction: Direction::Forward,
    strategy: "e-SSA: definitions and conditions",
    kind: ProblemKind::PartitionedLattice,
    reference: "Bodík, Gupta, Sarkar 2000 (ABCD), on integer ranges",
};

/// What becomes of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It never fails, since control cannot go there by the ranges of values.
    NeverByRanges,
    /// It never fails, by inequalities.
    NeverByInequalities(Vec<Step>),
    /// Whenever control comes there it fails.
    Always,
    /// Control never comes there.
    Unreachable,
    /// It may fail for all that is known.
    Unknown,
}

/// How many sweeps of narrowing are made.
const SWEEPS: usize = 2;

/// A function with its ranges, ready to be asked about checks.
pub struct Bounds<'a> {
    func: &'a Function,
    code: &'a Code,
    ssi: Ssi,
    facts: SparseForward<Fact>,
    edges: EdgeConditions,
    calls: Calls,
}

impl<'a> Bounds<'a> {
    /// Finds the ranges. `code` is the code of `func` [with makers](Code::with_makers).
    pub fn new<A: Assumptions>(
        module: &'a Module,
        func: &'a Function,
        code: &'a Code,
        assumptions: A,
    ) -> Bounds<'a> {
        let problem = Ranges::with(module, func, code, assumptions);
        let ssi = ssify(code.program(), &Ranges::STRATEGY);
        let facts = solve_forward_narrowing(code.program(), &ssi, &problem, SWEEPS);
        let calls = Calls::of(module, func);
        let edges = EdgeConditions::of(func, code, &calls);
        Bounds { func, code, ssi, facts, edges, calls }
    }

    /// What solving took.
    pub fn work(&self) -> Work {
        Work { versions: self.ssi.versions(), steps: self.facts.steps() }
    }

    /// How live ranges are split.
    pub fn ssi(&self) -> &Ssi {
        &self.ssi
    }

    /// The ranges of versions.
    pub fn facts(&self) -> &SparseForward<Fact> {
        &self.facts
    }

    /// Inequalities between values.
    pub fn prover(&self) -> Prover<'_> {
        Prover::new(self.func, self.code, &self.ssi, &self.facts, &self.edges, &self.calls)
    }

    /// What becomes of a check.
    pub fn outcome(&self, prover: &Prover<'_>, check: &Check) -> Outcome {
        let graph = self.code.program().graph();
        let node = graph.source(check.fails);
        if !self.facts.is_reached(node) {
            return Outcome::Unreachable;
        }
        if !self.facts.is_taken(check.fails) {
            return Outcome::NeverByRanges;
        }
        let others = graph.out_edges(node).iter().filter(|&&e| e != check.fails);
        if others.clone().all(|&e| !self.facts.is_taken(e)) {
            return Outcome::Always;
        }
        match self.contradiction(prover, check.fails) {
            Some(steps) => Outcome::NeverByInequalities(steps),
            None if others.clone().all(|&e| self.contradiction(prover, e).is_some()) => Outcome::Always,
            None => Outcome::Unknown,
        }
    }

    /// Why an edge can never be taken: one of the conditions that would hold there never does.
    pub fn contradiction(&self, prover: &Prover<'_>, edge: EdgeId) -> Option<Vec<Step>> {
        let node = self.code.program().graph().source(edge);
        self.edges.get(edge).iter().find_map(|&condition| match condition {
            Condition::Compare(pred, a, b) => {
                let order = |x, y: Value, c| prover.at_most(prover.tested(node, x)?, y, c);
                let is_natural = |o| self.is_natural(prover, node, o);
                match pred {
                    IntPred::Uge => order(a, b.value, -1),
                    IntPred::Ugt => order(a, b.value, 0),
                    IntPred::Ule => order(b, a.value, -1),
                    IntPred::Ult => order(b, a.value, 0),
                    IntPred::Eq => order(a, b.value, -1).or_else(|| order(b, a.value, -1)),
                    // If the greater one is at most the smaller one and not negative, neither is.
                    IntPred::Sge if is_natural(a) && is_natural(b) => order(a, b.value, -1),
                    IntPred::Sgt if is_natural(a) && is_natural(b) => order(a, b.value, 0),
                    IntPred::Sle if is_natural(a) && is_natural(b) => order(b, a.value, -1),
                    IntPred::Slt if is_natural(a) && is_natural(b) => order(b, a.value, 0),
                    IntPred::Ne => {
                        let mut steps = order(a, b.value, 0)?;
                        steps.extend(order(b, a.value, 0)?);
                        Some(steps)
                    }
                    _ => None,
                }
            }
            // The flag of a difference is set if the first number is less than the second.
            Condition::Is(flag, 1) => {
                let pair = self.func.def_inst(flag.value)?;
                let Op::ExtractValue(path) = &self.func.insts[pair].op else { return None };
                let call = self.func.def_inst(self.func.insts[pair].args[0]).filter(|_| **path == [1])?;
                let Intrinsic::Overflow(BinaryOp::Sub, false) = self.calls.get(call)? else { return None };
                prover.operands_in_order(call)
            }
            _ => None,
        })
    }

    fn is_natural(&self, prover: &Prover<'_>, node: Node, operand: super::edges::Operand) -> bool {
        let version = prover.tested(node, operand);
        let range = version.and_then(|v| self.facts.fact(v).range());
        range.is_some_and(|r| r.is_not_negative())
    }
}

/// Decides all checks of a function, with what is assumed of its surroundings.
pub fn analyze<A: Assumptions>(module: &Module, func: &Function, assumptions: A) -> (BoundsReport, Work) {
    let code = Code::with_makers(func);
    let bounds = Bounds::new(module, func, &code, assumptions);
    let prover = bounds.prover();
    let decided = checks(module, func, &code).into_iter().map(|check| {
        let outcome = bounds.outcome(&prover, &check);
        (check, outcome)
    });
    (BoundsReport::new(module, func, decided), bounds.work())
}
