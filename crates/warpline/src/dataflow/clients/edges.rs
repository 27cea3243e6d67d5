//! What the out-edges of branches say, with operands by the position among the tests of the edge's source, as the transfer functions of
//! edges see them.

use smallvec::SmallVec;
use warpline_analysis::dataflow::{ForwardEdge, Program};
use warpline_analysis::{BitSet, EdgeId, Graph, Lists, Node};

use crate::dataflow::Code;
use crate::dataflow::conditions::{self, Holds};
use crate::ir::{Block, Function, IntPred, Op, Value};

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
}

/// The conditions of all edges of a function.
#[derive(Clone, Debug)]
pub struct EdgeConditions {
    conditions: Lists<Condition>,
    never: BitSet,
}

impl Condition {
    /// The one or two values that it speaks of; one stands twice.
    pub fn operands(self) -> [Operand; 2] {
        match self {
            Condition::Compare(_, a, b) => [a, b],
            Condition::Is(v, _) | Condition::IsNone(v, _) => [v, v],
        }
    }
}

impl EdgeConditions {
    /// Finds them.
    pub fn of(func: &Function, code: &Code) -> EdgeConditions {
        let program = code.program();
        let graph = program.graph();
        let mut found: Vec<(usize, Condition)> = Vec::new();
        let mut never = BitSet::new(graph.edge_count());
        for number in 0..graph.edge_count() {
            let e = EdgeId::new(number);
            let node = graph.source(e);
            if is_never_taken(func, code, e) {
                never.insert(number);
            }
            let operand = |v: Value| operand(func, code, program, node, v);
            for holds in conditions::on_edge(func, code.edge(e)) {
                let condition = match holds {
                    Holds::Compare(pred, a, b) => {
                        operand(a).zip(operand(b)).map(|(a, b)| Condition::Compare(pred, a, b))
                    }
                    Holds::Is(v, n) => operand(v).map(|v| Condition::Is(v, n)),
                    Holds::IsNone(v, block) => operand(v).map(|v| Condition::IsNone(v, block)),
                };
                found.extend(condition.map(|c| (number, c)));
            }
        }
        EdgeConditions { conditions: Lists::group(graph.edge_count(), found.iter().copied()), never }
    }

    /// What holds when an edge is taken.
    pub fn get(&self, edge: EdgeId) -> &[Condition] {
        self.conditions.get(edge.index())
    }

    /// Whether an edge is never taken, since its branch is decided by a constant.
    pub fn is_never(&self, edge: EdgeId) -> bool {
        self.never.contains(edge.index())
    }
}

fn operand(func: &Function, code: &Code, program: &Program, node: Node, v: Value) -> Option<Operand> {
    if func.constant(v).is_some() {
        return Some(Operand { value: v, test: None });
    }
    let variable = code.variable(v);
    let at = program.tests(node).iter().position(|t| t.variable == variable)?;
    Some(Operand { value: v, test: Some(at as u32) })
}

/// Refines what is known of tested variables by conditions that hold on an edge, one after the other. `constant` says what is known
/// of a constant; `step` gets what is known of the operands of a condition and returns what is known of them under it, or
/// `None` if the condition cannot hold. Returns whether all can.
pub fn refine<F: Clone + PartialEq, E: ForwardEdge<F>>(
    facts: &mut E,
    conditions: &[Condition],
    constant: impl Fn(Value) -> F,
    mut step: impl FnMut(Condition, [&F; 2]) -> Option<[F; 2]>,
) -> bool {
    let mut refined: SmallVec<[(u32, F); 4]> = SmallVec::new();
    for &condition in conditions {
        let operands = condition.operands();
        let known = operands.map(|o| match o.test {
            None => constant(o.value),
            Some(at) => match refined.iter().find(|(t, _)| *t == at) {
                Some((_, fact)) => fact.clone(),
                None => facts.before(at as usize).clone(),
            },
        });
        let Some(under) = step(condition, [&known[0], &known[1]]) else { return false };
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
