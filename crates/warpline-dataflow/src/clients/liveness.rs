//! Liveness: which values are read later, block by block, and how many at once.
//!
//! * Lattice: live or not; ⊤ is not live.
//! * Strategy: [`Strategy::SSA`], backward, a *partitioned-variable* problem: whether a value is live depends on its
//!   uses alone. An operand of a φ is read on its edge if the φ's result is live. Each value's live range is found
//!   from its uses backwards; the dense solution keeps a state for each block.
//! * Every operand of an instruction is a use, memory and calls or not; what memory holds has no liveness. Poison and
//!   undef play no part.

use std::fmt::Write as _;

use serde::Serialize;
use warpline_analysis::dataflow::{
    Backward, BackwardFacts, Instruction, LiveVariables, Program, Variable, solve_backward,
    solve_backward_dense,
};
use warpline_analysis::order::reachable_from;
use warpline_analysis::ssi::{Strategy, Version, ssify};
use warpline_analysis::{BitSet, Graph, Node};

use super::dead_code::Needed;
use crate::Code;
use crate::report::{Description, Direction, Kind, Report, Solver, Work};
use warpline_ir::{FuncId, Module, Names};

/// What this client is.
pub const DESCRIPTION: Description = Description {
    name: "liveness",
    question: "which values are read later, and how many at once",
    direction: Direction::Backward,
    strategy: "SSA",
    kind: Kind::PartitionedVariable,
    reference: "paper 4, Section 4",
};

/// Where live ranges are split.
pub const STRATEGY: Strategy = Strategy::SSA;

/// How many names a line of text lists.
const NAMES: usize = 8;

/// The problem of a program. A fact says whether a variable is read.
#[derive(Clone, Copy, Debug)]
pub struct Liveness<'a>(pub &'a Program);

impl Backward for Liveness<'_> {
    type Fact = Needed;

    fn instruction(&self, at: Instruction, facts: &mut impl BackwardFacts<Needed>) {
        (0..self.0.uses(at).len()).for_each(|k| facts.lower(k, Needed(true)));
    }
}

/// What was found in a function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LivenessReport {
    /// How many values are live at once at most, at some point.
    pub most: usize,
    /// Blocks in order.
    pub blocks: Vec<LiveBlock>,
    /// Parameters and results that are never read.
    pub never_read: Vec<String>,
}

/// What is live in a block.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LiveBlock {
    /// The block.
    pub block: String,
    /// Values that are live at its entry, behind its φs.
    pub at_entry: Vec<String>,
    /// How many values are live at once at most, at some point of the block.
    pub most: usize,
}

/// The variables that are live at the entry of each block that control can reach, behind its φs, in order.
pub fn live_at_entries(program: &Program, solver: Solver) -> (Vec<Vec<Variable>>, Work) {
    let graph = program.graph();
    let problem = Liveness(program);
    match solver {
        Solver::Sparse => {
            let ssi = ssify(program, &STRATEGY);
            let solution = solve_backward(program, &ssi, &problem);
            let is_read = |result: Version| solution.fact(result).0;
            let live = LiveVariables::of_read(program, |slot| is_read(ssi.phi_result(slot)));
            let lists = graph.nodes().map(|n| live.at_entry(n).to_vec()).collect();
            (lists, Work { versions: ssi.versions(), steps: solution.steps() })
        }
        Solver::Dense => {
            let solution = solve_backward_dense(program, &problem);
            let live = LiveVariables::of(program);
            let is_live = |n: Node, v: &Variable| solution.at_entry(n, *v).0;
            let at = |n: Node| live.at_entry(n).iter().copied().filter(|v| is_live(n, v)).collect();
            (graph.nodes().map(at).collect(), Work { versions: 0, steps: solution.steps() })
        }
    }
}

/// Analyses a function.
pub fn analyse(module: &Module, id: FuncId, solver: Solver) -> (LivenessReport, Work) {
    let func = &module.functions[id];
    let code = Code::of(func);
    let program = code.program();
    let (entries, work) = live_at_entries(program, solver);
    let names = Names::new(func);
    let name = |v: Variable| match (code.value(v), code.var(v)) {
        (Some(v), _) => names.value(func, v),
        (None, Some(x)) => func.var_name(x),
        (None, None) => String::new(),
    };
    let mut report = LivenessReport::default();
    let mut counter =
        Counter { program, entries: &entries, live: BitSet::new(program.variables()), count: 0 };
    let graph = program.graph();
    let reached = reachable_from(graph, [graph.entry()]);
    for &b in func.layout.iter().filter(|&&b| reached.contains(Node::from(b).index())) {
        let node = Node::from(b);
        let most = counter.most(node, &mut report.never_read, &name);
        report.most = report.most.max(most);
        let at_entry = entries[node.index()].iter().map(|&v| name(v)).collect();
        report.blocks.push(LiveBlock { block: names.block(func, b), at_entry, most });
    }
    let at_start = &entries[graph.entry().index()];
    let params = func.params.iter().filter(|&&p| at_start.binary_search(&code.variable(p)).is_err());
    report.never_read.splice(0..0, params.map(|&p| names.value(func, p)));
    (report, work)
}

/// Walks blocks backwards.
struct Counter<'a> {
    program: &'a Program,
    entries: &'a [Vec<Variable>],
    live: BitSet,
    count: usize,
}

impl Counter<'_> {
    /// How many variables are live at once at most in a block; notes results that are not live.
    fn most(
        &mut self,
        node: Node,
        never_read: &mut Vec<String>,
        name: &impl Fn(Variable) -> String,
    ) -> usize {
        let program = self.program;
        self.live.clear();
        self.count = 0;
        for &e in program.graph().out_edges(node) {
            let target = &self.entries[program.graph().target(e).index()];
            for p in program.phis(e).iter().filter(|p| target.binary_search(&p.result).is_ok()) {
                self.insert(p.operand);
            }
            let through = target.iter().filter(|v| program.phis(e).iter().all(|p| p.result != **v));
            through.for_each(|&v| self.insert(v));
        }
        let mut most = self.count;
        let mut dead = Vec::new();
        for at in program.block(node).rev().map(Instruction) {
            for &v in program.definitions(at) {
                match self.live.remove(v.index()) {
                    true => self.count -= 1,
                    false => dead.push(name(v)),
                }
            }
            program.uses(at).iter().for_each(|&v| self.insert(v));
            most = most.max(self.count);
        }
        if let Some(&e) = program.graph().in_edges(node).first() {
            let entry = &self.entries[node.index()];
            let phis = program.phis(e).iter().rev().filter(|p| entry.binary_search(&p.result).is_err());
            dead.extend(phis.map(|p| name(p.result)));
        }
        never_read.extend(dead.into_iter().rev());
        most
    }

    fn insert(&mut self, v: Variable) {
        if !self.program.is_fixed(v) && self.live.insert(v.index()) {
            self.count += 1;
        }
    }
}

impl Report for LivenessReport {
    fn write_text(&self, out: &mut String) {
        let _ = writeln!(out, "  live at once at most: {}", self.most);
        for b in &self.blocks {
            let some = b.at_entry.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(" ");
            let rest = match b.at_entry.len().saturating_sub(NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let _ = writeln!(
                out,
                "  {}: {} at the entry, at most {}: {some}{rest}",
                b.block,
                b.at_entry.len(),
                b.most
            );
        }
        if !self.never_read.is_empty() {
            let _ = writeln!(out, "  never read: {}", self.never_read.join(" "));
        }
    }
}
