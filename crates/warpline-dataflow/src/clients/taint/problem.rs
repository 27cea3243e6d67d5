//! One function as a forward problem, given what is tainted around it.

use warpline_analysis::EdgeId;
use warpline_analysis::dataflow::{Forward, ForwardEdge, ForwardFacts, Instruction, Lattice, Variable};

use super::calls::Callee;
use super::checks::Checks;
use super::flows::{Conclusion, Flows, Premise};
use super::solve::Around;
use crate::Code;
use crate::conditions::{self, Holds};
use warpline_ir::{FuncId, Function, Inst, IntPred, ValueDef};

/// Whether attackers may have chosen a value. Of the contents of a pointer that is checked somewhere: whether they
/// have not been checked, so that they are tainted if their memory is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Taint {
    /// They have not.
    #[default]
    Clean,
    /// They may have.
    Tainted,
}

impl Taint {
    /// Tainted if so.
    pub fn when(tainted: bool) -> Taint {
        if tainted { Taint::Tainted } else { Taint::Clean }
    }
}

impl Lattice for Taint {
    fn top() -> Taint {
        Taint::Clean
    }

    fn meet(&mut self, other: &Taint) -> bool {
        let lowered = *self < *other;
        *self = (*self).max(*other);
        lowered
    }
}

/// The problem of one function.
pub(super) struct TaintProblem<'a> {
    pub flows: &'a Flows<'a>,
    pub id: FuncId,
    pub code: &'a Code,
    pub checks: &'a Checks,
    pub around: &'a Around,
    /// Whether comparisons with constants make clean.
    pub compare: bool,
}

impl TaintProblem<'_> {
    fn func(&self) -> &Function {
        &self.flows.module.functions[self.id]
    }

    /// Whether data of a premise is tainted; `fact` says so of operands by their number.
    pub(super) fn holds(&self, inst: Inst, premise: Premise, fact: &dyn Fn(usize) -> Taint) -> bool {
        match premise {
            Premise::Source => true,
            Premise::Operand(k) => fact(k) == Taint::Tainted,
            Premise::Cell(cell) => self.around.is_tainted(cell),
            Premise::Behind(k, cell) => {
                let unchecked =
                    || self.checks.operand(self.func(), inst, k).is_none_or(|c| fact(c) == Taint::Tainted);
                self.around.is_tainted(cell) && unchecked()
            }
            Premise::Returned(id) => self.around.returned.contains(id),
        }
    }
}

impl Forward for TaintProblem<'_> {
    type Fact = Taint;

    fn on_entry(&self, variable: Variable) -> Taint {
        let Some(v) = self.code.value(variable) else {
            // Contents that nobody has checked.
            return Taint::Tainted;
        };
        match self.func().values[v].def {
            ValueDef::Param(i) => Taint::when(self.around.is_param_tainted(self.id, i)),
            _ => Taint::Clean,
        }
    }

    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Taint>) {
        let inst = self.code.inst(at);
        let own = self.func().insts[inst].results.len();
        let all = self.code.program().definitions(at).len();
        let mut tainted = false;
        self.flows.at(self.id, inst, &mut |to, from| {
            if to == Conclusion::Result && !tainted {
                tainted = self.holds(inst, from, &|k| *facts.before(k));
            }
        });
        (0..own).for_each(|k| facts.define(k, Taint::when(tainted)));
        // What is written, or a pointer that is new, has not been checked, unless it is cleaned here.
        let cleaned = self.checks.cleaned(inst);
        (own..all).for_each(|k| facts.define(k, Taint::when(!cleaned.contains(&(k - own)))));
    }

    fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<Taint>) -> bool {
        let program = self.code.program();
        let edge = self.code.edge(edge);
        let block = self.func().edges[edge].from;
        let tests = program.tests(block.into());
        if tests.is_empty() {
            return true;
        }
        let mut clean: Vec<Variable> = Vec::new();
        for holds in conditions::on_edge(self.func(), edge) {
            let (value, is_true) = match holds {
                Holds::Is(v, n) => (v, n != 0),
                Holds::Compare(pred, a, b) => {
                    let is_number = |v| self.func().constant(v).is_some();
                    if self.compare {
                        clean.extend(
                            [(a, b), (b, a)]
                                .iter()
                                .filter(|p| is_number(p.1))
                                .map(|p| self.code.variable(p.0)),
                        );
                    }
                    match (pred, self.func().as_int(b)) {
                        (IntPred::Ne, Some(0)) => (a, true),
                        _ => continue,
                    }
                }
                Holds::IsNone(..) => continue,
            };
            if is_true {
                clean.extend(self.checks.checked_by(value));
            }
        }
        for (k, test) in tests.iter().enumerate() {
            if clean.contains(&test.variable) {
                facts.refine(k, Taint::Clean);
            }
        }
        true
    }
}

/// Whether a call is of a function that makes clean.
pub(super) fn sanitizer(flows: &Flows<'_>, func: &Function, inst: Inst) -> Option<usize> {
    match flows.calls.callee(flows.module, func, inst) {
        Callee::Sanitizer(symbol) => Some(symbol),
        _ => None,
    }
}
