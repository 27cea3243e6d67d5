//! What the out-edges of branches say, with operands by the position among the tests of the edge's source, as the
//! transfer functions of edges see them.

use smallvec::SmallVec;
use warpline_analysis::dataflow::ForwardEdge;
use warpline_analysis::{BitSet, EdgeId, Graph, Lists, Node};

use super::intrinsics::{Calls, Intrinsic};
use crate::Code;
use crate::conditions::{self, Holds, Made};
use warpline_ir::{BinaryOp, Block, Edge, Function, IntPred, Op, Type, Value};

/// A value that a condition speaks of.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The value.
    pub value: Value,
    /// Its position among the tests of the edge's source; `None` for a constant.
    pub test: Option<u32>,
}

/// Something that holds whenever an edge is taken.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// A comparison of integers or pointers.
    Compare(IntPred, Operand, Operand),
    /// The value equals this number (zero-extended).
    Is(Operand, u128),
    /// The value equals none of the cases of the `switch` at the end of this block.
    IsNone(Operand, Block),
    /// The first value is computed from the second and a constant, or is an extension or a part of it.
    From(Operand, Operand),
    /// The first value is the exact sum, difference or product of the others, as signed numbers or as unsigned ones.
    Exact {
        /// The operation.
        op: BinaryOp,
        /// Whether the numbers are signed.
        is_signed: bool,
        /// The result and the two operands.
        values: [Operand; 3],
    },
}

/// One thing for each operand of a condition.
pub type Each<T> = SmallVec<[T; 3]>;

impl Condition {
    /// The values that it speaks of.
    pub fn operands(self) -> Each<Operand> {
        match self {
            Condition::Compare(_, a, b) | Condition::From(a, b) => Each::from_slice(&[a, b]),
            Condition::Is(v, _) | Condition::IsNone(v, _) => Each::from_slice(&[v]),
            Condition::Exact { values, .. } => Each::from_slice(&values),
        }
    }
}

/// The conditions of all edges of a function.
#[derive(Clone, Debug)]
pub struct EdgeConditions {
    conditions: Lists<Condition>,
    never: BitSet,
}

impl EdgeConditions {
    /// Finds them. `calls` are the calls of the function.
    pub fn of(func: &Function, code: &Code, calls: &Calls) -> EdgeConditions {
        let graph = code.program().graph();
        let mut found: Vec<(usize, Condition)> = Vec::new();
        let mut never = BitSet::new(graph.edge_count());
        let mut list = Vec::new();
        for number in 0..graph.edge_count() {
            let e = EdgeId::new(number);
            if is_never_taken(func, code, e) {
                never.insert(number);
            }
            list.clear();
            Finder { func, code, calls, node: graph.source(e), list: &mut list }.find(code.edge(e));
            found.extend(list.iter().map(|&c| (number, c)));
        }
        EdgeConditions { conditions: Lists::group(graph.edge_count(), found.iter().copied()), never }
    }

    /// What holds when an edge is taken.
    pub fn get(&self, edge: EdgeId) -> &[Condition] {
        self.conditions.get(edge.index())
    }

    /// Whether an edge is never taken, since its branch is decided by a constant.
    pub(crate) fn is_never(&self, edge: EdgeId) -> bool {
        self.never.contains(edge.index())
    }
}

/// Finds the conditions of one edge.
struct Finder<'a> {
    func: &'a Function,
    code: &'a Code,
    calls: &'a Calls,
    node: Node,
    list: &'a mut Vec<Condition>,
}

impl Finder<'_> {
    fn operand(&self, v: Value) -> Option<Operand> {
        if self.func.constant(v).is_some() {
            return Some(Operand { value: v, test: None });
        }
        let variable = self.code.variable(v);
        let at = self.code.program().tests(self.node).iter().position(|t| t.variable == variable)?;
        Some(Operand { value: v, test: Some(at as u32) })
    }

    fn find(&mut self, edge: Edge) {
        let mut values: SmallVec<[Value; 8]> = SmallVec::new();
        let mut flags: SmallVec<[Value; 2]> = SmallVec::new();
        for holds in conditions::on_edge(self.func, edge) {
            let condition = match holds {
                Holds::Compare(pred, a, b) => {
                    values.extend([a, b]);
                    self.operand(a).zip(self.operand(b)).map(|(a, b)| Condition::Compare(pred, a, b))
                }
                Holds::Is(v, n) => {
                    if n == 0 && self.func.ty(v) == Type::BOOL {
                        flags.push(v);
                    }
                    values.push(v);
                    self.operand(v).map(|v| Condition::Is(v, n))
                }
                Holds::IsNone(v, block) => {
                    values.push(v);
                    self.operand(v).map(|v| Condition::IsNone(v, block))
                }
            };
            self.list.extend(condition);
        }
        // Comparisons come first, so that what they tell is told on.
        for v in values {
            for made in conditions::made(self.func, self.code.first_parts(), v) {
                let condition = match made {
                    Made::From(result, from) => {
                        self.operand(result).zip(self.operand(from)).map(|(r, f)| Condition::From(r, f))
                    }
                    Made::Flag(flag, first) if flags.contains(&flag) => self.exact(flag, first),
                    Made::Flag(..) => None,
                };
                self.list.extend(condition.filter(|c| !self.list.contains(c)));
            }
        }
    }

    /// What holds if the flag of a function `llvm.*.with.overflow` is not set.
    fn exact(&self, flag: Value, first: Value) -> Option<Condition> {
        let pair = self.func.insts[self.func.def_inst(flag)?].args[0];
        let call = self.func.def_inst(pair)?;
        let Intrinsic::Overflow(op, is_signed) = self.calls.get(call)? else { return None };
        let args = &self.func.insts[call].args;
        let values = [self.operand(first)?, self.operand(args[0])?, self.operand(args[1])?];
        Some(Condition::Exact { op, is_signed, values })
    }
}

/// Refines what is known of tested variables by conditions that hold on an edge, one after the other. `constant` says
/// what is known of a constant; `step` gets what is known of the operands of a condition and returns what is known of
/// them under it, or `None` if the condition cannot hold. Returns whether all can.
pub fn refine<F: Clone + PartialEq, E: ForwardEdge<F>>(
    facts: &mut E,
    conditions: &[Condition],
    constant: impl Fn(Value) -> F,
    mut step: impl FnMut(Condition, &[F]) -> Option<Each<F>>,
) -> bool {
    let mut refined: SmallVec<[(u32, F); 4]> = SmallVec::new();
    for &condition in conditions {
        let operands = condition.operands();
        let fact_of = |o: &Operand| match o.test {
            None => constant(o.value),
            Some(at) => match refined.iter().find(|(t, _)| *t == at) {
                Some((_, fact)) => fact.clone(),
                None => facts.before(at as usize).clone(),
            },
        };
        let known: Each<F> = operands.iter().map(fact_of).collect();
        let Some(under) = step(condition, &known) else { return false };
        for ((operand, fact), old) in operands.into_iter().zip(under).zip(known) {
            let Some(at) = operand.test.filter(|_| fact != old) else { continue };
            match refined.iter_mut().find(|(t, _)| *t == at) {
                Some((_, found)) => *found = fact,
                None => refined.push((at, fact)),
            }
        }
    }
    refined.into_iter().for_each(|(at, fact)| facts.refine(at as usize, fact));
    true
}

/// Whether a constant decides the branch otherwise. Poison decides it against every edge: branching on it is undefined.
fn is_never_taken(func: &Function, code: &Code, edge: EdgeId) -> bool {
    let e = code.edge(edge);
    let data = &func.insts[func.terminator(func.edges[e].from)];
    if !matches!(data.op, Op::CondBr | Op::Switch(_)) {
        return false;
    }
    if func.is_poison(data.args[0]) {
        return true;
    }
    let Some(value) = func.as_int(data.args[0]) else { return false };
    let taken = match &data.op {
        Op::Switch(cases) => cases.iter().position(|&c| c == value).map_or(0, |k| k + 1),
        _ => usize::from(value == 0),
    };
    data.edges[taken] != e
}
