//! What was found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;
use warpline_analysis::Node;
use warpline_analysis::dataflow::Instruction;

use super::calls::Calls;
use super::cells::Cells;
use super::explain::{Explainer, Step};
use super::flows::Flows;
use super::solve::{self, Whole};
use super::spec::Spec;
use crate::report::{Report, Solver, Work};
use warpline_ir::Place;
use warpline_ir::demangle;
use warpline_ir::{FuncId, Module, Symbol};

/// What was found in a function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct TaintReport {
    /// Data from outside that comes to where it does harm.
    pub findings: Vec<FindingReport>,
}

/// Data from outside that comes to a sink.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FindingReport {
    /// What is so.
    pub text: String,
    /// The argument, from 0.
    pub argument: usize,
    /// Where.
    pub location: Option<Place>,
    /// Why: from the sink back to the source.
    pub chain: Vec<Step>,
    /// The instruction's number in the function, for tests.
    #[serde(skip)]
    pub inst: u32,
}

/// Analyses a module whose functions are in SSA form. `closed` are the symbols that only instructions of the module
/// use, functions as callees. Returns the reports on the functions that there is anything to say of, and what it
/// took.
pub fn analyse(
    module: &Module,
    spec: &Spec,
    closed: &BTreeSet<Symbol>,
    solver: Solver,
) -> (BTreeMap<FuncId, TaintReport>, Work) {
    let calls = Calls::new(module, spec, closed);
    let cells = Cells::new(module, &calls);
    let flows = Flows { module, calls: &calls, cells: &cells };
    let mut whole = solve::solve(&flows, &calls, &cells, spec.compare, solver);
    whole.find_causes();
    let explainer = Explainer::new(&whole);
    let reports = whole.solutions.keys().map(|&id| (id, report(&whole, &explainer, id)));
    (reports.collect(), whole.work)
}

fn report(whole: &Whole<'_>, explainer: &Explainer<'_>, id: FuncId) -> TaintReport {
    let module = whole.flows.module;
    let func = &module.functions[id];
    let solution = &whole.solutions[&id];
    let program = solution.code.program();
    let mut findings = Vec::new();
    for &b in &func.layout {
        for at in program.block(Node::from(b)).map(Instruction) {
            let inst = solution.code.inst(at);
            let mut said = None;
            for (argument, premise) in whole.flows.sinks(id, inst) {
                if said == Some(argument) || !whole.holds(id, at, premise) {
                    continue;
                }
                said = Some(argument);
                findings.push(FindingReport {
                    text: format!(
                        "argument {argument} of {} may be chosen from outside",
                        explainer.describe(id, inst)
                    ),
                    argument,
                    location: Place::of(module, func, func.insts[inst].loc.expand()),
                    chain: explainer.chain(id, inst, premise),
                    inst: inst.as_u32(),
                });
            }
        }
    }
    TaintReport { findings }
}

impl Report for TaintReport {
    fn write_text(&self, out: &mut String) {
        let place = |p: &Option<Place>| p.as_ref().map(|p| format!("{p}: ")).unwrap_or_default();
        for f in &self.findings {
            let _ = writeln!(out, "  {}{}", place(&f.location), f.text);
            for s in &f.chain {
                let _ = writeln!(out, "    {}in {}: {}", place(&s.location), demangle(&s.function), s.text);
            }
        }
    }

    fn findings(&self) -> usize {
        self.findings.len()
    }
}
