//! Conditional constant propagation: which values are the same number whenever they are computed, and which blocks
//! and edges are never reached (Wegman and Zadeck 1991, on the representation of paper 4, Figure 5).
//!
//! * Lattice: nothing, one constant, anything; of integers up to 128 bits, `float` and `double` by their bits, null
//!   and addresses of symbols, and what `llvm.*.with.overflow` returns.
//! * Strategy: [`Strategy::CONDITIONAL_CONSTANTS`], forward. On the edge where `x == 3` holds, `x` is 3.
//! * It is a partitioned-lattice problem: what a result is depends on what the operands are. Reachability is the
//!   solver's.
//! * Poison is *nothing*: a fact says what a value is whenever it is not poison. Undefined behaviour (a division by
//!   zero, a branch on poison) yields nothing and takes no edge. Undef is *anything*, so facts hold for every choice
//!   that its uses may make. `freeze` gives anything unless it freezes a constant.
//! * Memory: a load that is neither volatile nor atomic, of a number at a constant place in a constant symbol of
//!   known contents, is that number; every other load is anything.
//! * Calls: LLVM's functions on integers are computed, the results of other calls are what [`Assumptions`] says, else
//!   anything. Parameters likewise. Opaque instructions give anything.

pub(crate) mod fold;
mod load;
mod report;
mod transfer;

#[cfg(test)]
mod tests;

pub use report::{ConstantsReport, analyze};

use smallvec::SmallVec;
use warpline_analysis::EdgeId;
use warpline_analysis::dataflow::{Forward, ForwardEdge, ForwardFacts, Instruction, Lattice, Variable};
use warpline_analysis::ssi::Strategy;

use super::edges::{self, Condition, Each, EdgeConditions};
use super::intrinsics::Calls;
use crate::Code;
use crate::report::{Description, Direction, Kind};
use warpline_ir::{
    Constant, FloatKind, Function, Inst, IntPred, Module, Op, Symbol, Type, Unwritten, ValueDef,
};

/// What this client is.
pub const DESCRIPTION: Description = Description {
    name: "constants",
    question: "which values are constants, and which code is never reached",
    direction: Direction::Forward,
    strategy: "definitions and equality tests",
    kind: Kind::PartitionedLattice,
    reference: "Wegman and Zadeck 1991",
};

/// A constant that is computed with.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Known {
    /// An integer of at most 128 bits.
    Int {
        /// Its width.
        bits: u32,
        /// The value, zero-extended.
        value: u128,
    },
    /// A floating-point number.
    Float {
        /// The format.
        kind: FloatKind,
        /// The bits, zero-extended.
        bits: u128,
    },
    /// The null pointer of an address space.
    Null(u32),
    /// The address of a symbol plus an offset in bytes. What it may be used for is not told: an equal address that
    /// was made otherwise may be allowed to access other memory.
    Address {
        /// The symbol.
        symbol: Symbol,
        /// The offset in bytes.
        offset: i64,
        /// The address space.
        space: u32,
    },
    /// What `llvm.*.with.overflow` returns.
    Overflow {
        /// The width.
        bits: u32,
        /// The value, zero-extended.
        value: u128,
        /// Whether it wrapped.
        overflow: bool,
    },
}

impl Known {
    /// A boolean.
    pub fn bool(b: bool) -> Known {
        Known::Int { bits: 1, value: u128::from(b) }
    }

    /// The integer of this width, truncated to it.
    pub fn int(bits: u32, value: u128) -> Known {
        Known::Int { bits, value: value & super::numbers::mask(bits) }
    }

    /// The value, if it is an integer.
    pub fn as_int(self) -> Option<u128> {
        match self {
            Known::Int { value, .. } => Some(value),
            _ => None,
        }
    }

    /// What a constant of the program is, if it is computed with.
    pub fn of(constant: &Constant) -> Option<Known> {
        Some(match *constant {
            Constant::Int { bits, value } => Known::Int { bits, value },
            Constant::Float { kind, bits } => Known::Float { kind, bits },
            Constant::Null(space) => Known::Null(space),
            Constant::Address { symbol, offset, space, .. } => Known::Address { symbol, offset, space },
            _ => return None,
        })
    }

    /// The constant of the program that it is; `None` for what `llvm.*.with.overflow` returns.
    pub fn constant(self) -> Option<Constant> {
        Some(match self {
            Known::Int { bits, value } => Constant::Int { bits, value },
            Known::Float { kind, bits } => Constant::Float { kind, bits },
            Known::Null(space) => Constant::Null(space),
            Known::Address { symbol, offset, space } => {
                Constant::Address { symbol, offset, space, origin: None }
            }
            Known::Overflow { .. } => return None,
        })
    }
}

/// What is known of a value.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fact {
    /// It is never computed, or only ever poison.
    Nothing,
    /// It is this constant, unless it is poison.
    Is(Known),
    /// It may be anything.
    Anything,
}

impl Fact {
    /// The constant that the value is.
    pub fn known(self) -> Option<Known> {
        match self {
            Fact::Is(known) => Some(known),
            _ => None,
        }
    }

    /// The fact that a constant of the program is.
    pub fn of(constant: &Constant) -> Fact {
        match constant {
            Constant::Poison(_) => Fact::Nothing,
            c => Known::of(c).map_or(Fact::Anything, Fact::Is),
        }
    }

    /// What is known of a value that has this fact and is `known` besides.
    fn and(self, known: Known) -> Fact {
        match self {
            Fact::Anything => Fact::Is(known),
            Fact::Is(k) if k == known => self,
            _ => Fact::Nothing,
        }
    }
}

impl Lattice for Fact {
    fn top() -> Fact {
        Fact::Nothing
    }

    fn meet(&mut self, other: &Fact) -> bool {
        let met = match (*self, *other) {
            (a, Fact::Nothing) => a,
            (Fact::Nothing, b) => b,
            (a, b) if a == b => a,
            _ => Fact::Anything,
        };
        let changed = met != *self;
        *self = met;
        changed
    }
}

/// What is known of a function's surroundings. Without a word nothing is.
pub trait Assumptions {
    /// What is known of parameter number `number` whenever the function is called.
    fn parameter(&self, number: u32) -> Fact {
        let _ = number;
        Fact::Anything
    }

    /// What is known of the only result of a call that is no function of LLVM's.
    fn call(&self, inst: Inst) -> Fact {
        let _ = inst;
        Fact::Anything
    }
}

impl Assumptions for () {}

/// Conditional constants of a function as a problem for the solvers.
pub struct Constants<'a, A = ()> {
    module: &'a Module,
    func: &'a Function,
    code: &'a Code,
    calls: Calls,
    edges: EdgeConditions,
    assumptions: A,
}

impl<'a> Constants<'a> {
    /// The strategy by which live ranges are to be split.
    pub const STRATEGY: Strategy = Strategy::CONDITIONAL_CONSTANTS;

    /// The problem, with nothing known of parameters and calls. `code` is the code of `func`.
    pub fn new(module: &'a Module, func: &'a Function, code: &'a Code) -> Constants<'a> {
        Constants::with(module, func, code, ())
    }
}

impl<'a, A: Assumptions> Constants<'a, A> {
    /// The problem under assumptions.
    pub fn with(module: &'a Module, func: &'a Function, code: &'a Code, assumptions: A) -> Constants<'a, A> {
        let calls = Calls::of(module, func);
        let edges = EdgeConditions::of(func, code, &calls);
        Constants { module, func, code, calls, edges, assumptions }
    }

    /// What is known of the operands of a condition that holds, from what is known of them anyway; `None` if it
    /// cannot hold.
    fn under(&self, condition: Condition, facts: &[Fact]) -> Option<Each<Fact>> {
        if facts.contains(&Fact::Nothing) {
            return None;
        }
        let unchanged = || Some(Each::from_slice(facts));
        match condition {
            Condition::Is(v, number) => {
                let Type::Int(bits) = self.func.ty(v.value) else { return unchanged() };
                let fact = facts[0].and(Known::int(bits, number));
                (fact != Fact::Nothing).then(|| Each::from_slice(&[fact]))
            }
            Condition::IsNone(_, block) => {
                let Op::Switch(cases) = &self.func.insts[self.func.terminator(block)].op else {
                    return unchanged();
                };
                let is_case = facts[0].known().and_then(Known::as_int).is_some_and(|n| cases.contains(&n));
                if is_case { None } else { unchanged() }
            }
            Condition::Compare(pred, ..) => match (facts[0], facts[1]) {
                (Fact::Is(x), Fact::Is(y)) if transfer::holds(pred, x, y) == Some(false) => None,
                (Fact::Is(k), _) | (_, Fact::Is(k)) if pred == IntPred::Eq => {
                    Some(Each::from_slice(&[Fact::Is(k); 2]))
                }
                _ => unchanged(),
            },
            Condition::From(..) | Condition::Exact { .. } => unchanged(),
        }
    }
}

impl<A: Assumptions> Forward for Constants<'_, A> {
    type Fact = Fact;

    fn on_entry(&self, variable: Variable) -> Fact {
        let Some(value) = self.code.value(variable) else {
            let unwritten = self.code.var(variable).map(|x| self.func.vars[x].unwritten);
            return if unwritten == Some(Unwritten::Poison) { Fact::Nothing } else { Fact::Anything };
        };
        match (self.func.constant(value), self.func.values[value].def) {
            (Some(constant), _) => Fact::of(constant),
            (_, ValueDef::Param(number)) => self.assumptions.parameter(number),
            _ => Fact::Anything,
        }
    }

    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Fact>) {
        let inst = self.code.inst(at);
        let data = &self.func.insts[inst];
        if matches!(data.op, Op::ParallelCopy) {
            for k in 0..data.args.len() {
                facts.define(k, *facts.before(k));
            }
            return;
        }
        let results = self.code.program().definitions(at).len();
        if results == 0 {
            return;
        }
        let operands: SmallVec<[Fact; 4]> =
            (0..self.code.program().uses(at).len()).map(|k| *facts.before(k)).collect();
        let fact = self.result(inst, &operands);
        (0..results).for_each(|k| facts.define(k, fact));
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<Fact>) -> bool {
        if self.edges.is_never(edge) {
            return false;
        }
        let constant = |v| self.func.constant(v).map_or(Fact::Anything, Fact::of);
        edges::refine(facts, self.edges.get(edge), constant, |condition, facts| self.under(condition, facts))
    }
}
