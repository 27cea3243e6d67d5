//! What is reported of conditional constants.

use std::fmt::Write as _;

use serde::Serialize;
use warpline_analysis::{EdgeId, Graph, Node};

use super::{Assumptions, Constants, Fact};
use crate::Code;
use crate::at_definitions::AtDefinitions;
use crate::report::{Report, Solver, Work};
use warpline_ir::Place;
use warpline_ir::text;
use warpline_ir::{Function, Module};

/// A value that is a constant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConstantValue {
    /// The value.
    pub name: String,
    /// What it is, in the text form.
    pub constant: String,
    /// Where it is computed, if known.
    pub place: Option<Place>,
}

/// An edge that is never taken though its source is reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DeadEdge {
    /// The block that it leaves.
    pub from: String,
    /// The block that it would lead to.
    pub to: String,
    /// Where the branch is, if known.
    pub place: Option<Place>,
}

/// The conditional constants of one function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ConstantsReport {
    /// Results of instructions that are constants, in the order of the code.
    pub constants: Vec<ConstantValue>,
    /// Blocks that control never reaches, in the order of the code.
    pub unreachable: Vec<String>,
    /// Edges out of other blocks that control never takes.
    pub dead_edges: Vec<DeadEdge>,
    /// How many values there are: results of instructions in blocks that are reached.
    pub values: usize,
}

/// Finds the conditional constants of a function in SSA form.
pub fn analyze(
    module: &Module,
    func: &Function,
    assumptions: impl Assumptions,
    solver: Solver,
) -> (ConstantsReport, Work) {
    let code = Code::of(func);
    let problem = Constants::with(module, func, &code, assumptions);
    let (found, solution) =
        AtDefinitions::forward(code.program(), &Constants::<()>::STRATEGY, &problem, solver, 0);
    let mut report = ConstantsReport::default();
    for &b in &func.layout {
        if !solution.is_reached(Node::from(b)) {
            report.unreachable.push(func.block_name(b));
            continue;
        }
        for i in func.block_insts(b) {
            for &v in &func.insts[i].results {
                report.values += 1;
                let Fact::Is(known) = found.fact(v) else { continue };
                let Some(constant) = known.constant() else { continue };
                report.constants.push(ConstantValue {
                    name: func.value_name(v),
                    constant: text::constant_text(module, &constant),
                    place: Place::of(module, func, func.insts[i].loc.expand()),
                });
            }
        }
    }
    let graph = code.program().graph();
    for e in (0..graph.edge_count()).map(EdgeId::new) {
        if solution.is_reached(graph.source(e)) && !solution.is_taken(e) {
            let data = &func.edges[code.edge(e)];
            let branch = func.insts[func.terminator(data.from)].loc.expand();
            report.dead_edges.push(DeadEdge {
                from: func.block_name(data.from),
                to: func.block_name(data.to),
                place: Place::of(module, func, branch),
            });
        }
    }
    (report, found.work())
}

impl Report for ConstantsReport {
    fn write_text(&self, out: &mut String) {
        let at = |p: &Option<Place>| p.as_ref().map_or(String::new(), |p| format!(" ({})", p.short()));
        for c in &self.constants {
            let _ = writeln!(out, "  {} is {}{}", c.name, c.constant, at(&c.place));
        }
        for b in &self.unreachable {
            let _ = writeln!(out, "  block {b} is never reached");
        }
        for e in &self.dead_edges {
            let _ = writeln!(out, "  control never goes from {} to {}{}", e.from, e.to, at(&e.place));
        }
    }
}
