//! Integer ranges with wrap-around semantics, after the branches that constrain them (paper 4, Figure 5: ABCD, taint
//! and range analysis split alike).
//!
//! * Lattice: nothing, or a [`Range`] per width up to 128 bits: an interval of unsigned numbers and one of signed
//!   numbers; for the pairs that calls return, two of them; anything for all else. Chains are cut short by
//!   [`thresholds`] at the headers of loops; solve with
//!   [`solve_forward_narrowing`](warpline_analysis::dataflow::solve_forward_narrowing).
//! * Strategy: [`Strategy::E_SSA`], forward. A branch on `x + 1 < n` tells of `x` and `n` too
//!   ([`conditions::Made`](crate::conditions::Made)), and one on the flag of `llvm.*.with.overflow` that the result
//!   is exact.
//! * It is a partitioned-lattice problem: the range of a result depends on those of the operands.
//! * Poison is *nothing*: a range says what a value is whenever it is not poison, so `nuw` and `nsw` cut exact
//!   results off. Undefined behaviour yields nothing and takes no edge. Undef is *anything*, so ranges hold for every
//!   choice that its uses may make. `freeze` gives anything, unless it freezes a constant.
//! * Memory: loads give anything. Calls: LLVM's functions on integers are computed, results of others and parameters
//!   are what [`Assumptions`] says, else anything. Opaque instructions give anything.

pub mod arithmetic;
pub mod functions;
mod range;
pub mod refine;
mod report;
pub mod thresholds;
mod transfer;

#[cfg(test)]
mod tests;

pub use range::Range;
pub use report::{RangesReport, ValueRange, analyze};

use warpline_analysis::EdgeId;
use warpline_analysis::Node;
use warpline_analysis::dataflow::{Forward, ForwardEdge, ForwardFacts, Instruction, Lattice, Variable};
use warpline_analysis::ssi::Strategy;

use super::edges::{self, Condition, Each, EdgeConditions};
use super::intrinsics::Calls;
use crate::Code;
use crate::report::{Description, Direction, Kind};
use thresholds::Thresholds;
use warpline_ir::{Constant, Function, Inst, Module, Op, Type, TypeTable, Unwritten, Value, ValueDef};

/// What this client is.
pub const DESCRIPTION: Description = Description {
    name: "ranges",
    question: "between which numbers integers lie",
    direction: Direction::Forward,
    strategy: "e-SSA: definitions and conditions",
    kind: Kind::PartitionedLattice,
    reference: "paper 4, Figure 5; Bodík, Gupta, Sarkar 2000 (e-SSA)",
};

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// It is never computed, or only ever poison.
    Nothing,
    /// It is an integer in this set, unless it is poison.
    In(Range),
    /// It is a structure of two members of which this is known.
    Pair(Box<[Fact; 2]>),
    /// It may be anything.
    Anything,
}

impl Fact {
    /// All that a value of this type may be.
    pub fn any(ty: Type) -> Fact {
        match ty {
            Type::Int(bits @ ..=128) => Fact::In(Range::full(bits)),
            _ => Fact::Anything,
        }
    }

    /// The range of an integer that may be computed.
    pub fn range(&self) -> Option<&Range> {
        match self {
            Fact::In(range) => Some(range),
            _ => None,
        }
    }

    /// What is known of a constant.
    pub fn of(constant: &Constant) -> Fact {
        match *constant {
            Constant::Int { bits, value } => Fact::In(Range::single(bits, value)),
            Constant::Poison(_) => Fact::Nothing,
            ref other => Fact::any(other.ty()),
        }
    }

    /// A pair; nothing if neither part is anything that is computed.
    fn pair(parts: [Fact; 2]) -> Fact {
        if parts == [Fact::Nothing, Fact::Nothing] { Fact::Nothing } else { Fact::Pair(Box::new(parts)) }
    }
}

impl From<Option<Range>> for Fact {
    /// `None` is poison.
    fn from(range: Option<Range>) -> Fact {
        range.map_or(Fact::Nothing, Fact::In)
    }
}

impl Lattice for Fact {
    fn top() -> Fact {
        Fact::Nothing
    }

    fn meet(&mut self, other: &Fact) -> bool {
        match (&mut *self, other) {
            (_, Fact::Nothing) | (Fact::Anything, _) => false,
            (Fact::In(a), Fact::In(b)) if a.bits() == b.bits() => {
                let hull = a.hull(b);
                let changed = hull != *a;
                *a = hull;
                changed
            }
            (Fact::Pair(a), Fact::Pair(b)) => {
                let [first, second] = &mut **a;
                // Both, whatever the first says.
                first.meet(&b[0]) | second.meet(&b[1])
            }
            (Fact::Nothing, known) => {
                *self = known.clone();
                true
            }
            _ => {
                *self = Fact::Anything;
                true
            }
        }
    }
}

/// What is known of a function's surroundings. Without a word nothing is.
pub trait Assumptions {
    /// The range of parameter number `number` whenever the function is called, if it is an integer.
    fn parameter(&self, number: u32) -> Option<Range> {
        let _ = number;
        None
    }

    /// The range of the only result of a call or a load, if it is an integer.
    fn result(&self, inst: Inst) -> Option<Range> {
        let _ = inst;
        None
    }
}

impl Assumptions for () {}

/// Ranges of a function as a problem for the solvers.
pub struct Ranges<'a, A = ()> {
    types: &'a TypeTable,
    func: &'a Function,
    code: &'a Code,
    calls: Calls,
    edges: EdgeConditions,
    thresholds: Thresholds,
    assumptions: A,
}

impl<'a> Ranges<'a> {
    /// The strategy by which live ranges are to be split.
    pub const STRATEGY: Strategy = Strategy::E_SSA;

    /// The problem, with nothing known of parameters and calls. `code` is the code of `func`, best
    /// [with makers](Code::with_makers).
    pub fn new(module: &'a Module, func: &'a Function, code: &'a Code) -> Ranges<'a> {
        Ranges::with(module, func, code, ())
    }
}

impl<'a, A: Assumptions> Ranges<'a, A> {
    /// The problem under assumptions.
    pub fn with(module: &'a Module, func: &'a Function, code: &'a Code, assumptions: A) -> Ranges<'a, A> {
        let calls = Calls::of(module, func);
        let edges = EdgeConditions::of(func, code, &calls);
        let types = &module.types;
        let known = (0..func.params.len() as u32).filter_map(|number| assumptions.parameter(number));
        let thresholds = Thresholds::of(func, known);
        Ranges { types, func, code, calls, edges, thresholds, assumptions }
    }

    /// What is known under a condition of its operands; `None` if it cannot hold.
    fn under(&self, condition: Condition, facts: &[Fact]) -> Option<Each<Fact>> {
        if facts.contains(&Fact::Nothing) {
            return None;
        }
        let ranges: Option<Each<Range>> = facts.iter().map(|f| f.range().copied()).collect();
        let Some(ranges) = ranges else { return Some(facts.iter().cloned().collect()) };
        let told: Each<Range> = match condition {
            Condition::Compare(pred, ..) => {
                Each::from_slice(&refine::compared(pred, &ranges[0], &ranges[1])?)
            }
            Condition::Is(_, number) => {
                let bits = ranges[0].bits();
                Each::from_slice(&[ranges[0].intersection(&Range::single(bits, number))?])
            }
            Condition::IsNone(_, block) => match &self.func.insts[self.func.terminator(block)].op {
                Op::Switch(cases) if cases.len() <= MANY_CASES => {
                    Each::from_slice(&[refine::none_of(&ranges[0], cases)?])
                }
                _ => ranges,
            },
            Condition::From(result, from) => {
                let told = refine::made_from(self.func, result.value, &ranges[0], from.value, &ranges[1])?;
                Each::from_slice(&[ranges[0], told])
            }
            Condition::Exact { op, is_signed, .. } => {
                Each::from_slice(&refine::exact(op, is_signed, [&ranges[0], &ranges[1], &ranges[2]])?)
            }
        };
        Some(told.into_iter().map(Fact::In).collect())
    }
}

/// The default edge of a `switch` with more cases tells nothing.
const MANY_CASES: usize = 64;

impl<A: Assumptions> Forward for Ranges<'_, A> {
    type Fact = Fact;

    fn on_entry(&self, variable: Variable) -> Fact {
        let Some(value) = self.code.value(variable) else {
            let var = self.code.var(variable).map(|x| &self.func.vars[x]);
            return match var {
                Some(x) if x.unwritten == Unwritten::Poison => Fact::Nothing,
                Some(x) => Fact::any(x.ty),
                None => Fact::Anything,
            };
        };
        let any = Fact::any(self.func.ty(value));
        match (self.func.constant(value), self.func.values[value].def) {
            (Some(constant), _) => Fact::of(constant),
            (_, ValueDef::Param(number)) => self.assumptions.parameter(number).map_or(any, Fact::In),
            _ => any,
        }
    }

    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Fact>) {
        self.transfer(at, facts);
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<Fact>) -> bool {
        if self.edges.is_never(edge) {
            return false;
        }
        let constant = |v: Value| self.func.constant(v).map_or(Fact::Anything, Fact::of);
        edges::refine(facts, self.edges.get(edge), constant, |condition, facts| self.under(condition, facts))
    }

    fn widen(&self, _: Node, _: &Fact, new: Fact) -> Fact {
        let widened = |fact| match fact {
            Fact::In(range) => Fact::In(self.thresholds.widen(&range)),
            other => other,
        };
        match new {
            Fact::Pair(parts) => Fact::Pair(Box::new(parts.map(widened))),
            fact => widened(fact),
        }
    }
}
