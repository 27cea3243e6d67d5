//! What a problem says of values where they are defined, solved either way.
//!
//! In SSA form a value is a variable with one definition, and the first version of it is what the definition yields.

use warpline_analysis::bitset::BitSet;
use warpline_analysis::dataflow::{
    Backward, Forward, Instruction, Lattice, Program, Variable, WideningPoints, solve_backward,
    solve_backward_dense, solve_forward_dense_at, solve_forward_narrowing,
};
use warpline_analysis::ssi::{Ssi, Strategy, Version, ssify};
use warpline_analysis::{EdgeId, Graph, Node};
use warpline_ir::Value;

use super::report::{Solver, Work};

/// Facts at the definitions of a program in SSA form, whichever solver found them.
pub(crate) struct AtDefinitions<F> {
    /// By variable.
    facts: Vec<F>,
    work: Work,
}

/// Where control comes, as far as a forward problem tells.
pub(crate) struct Reaches {
    nodes: BitSet,
    edges: BitSet,
}

impl Reaches {
    fn new(
        program: &Program,
        is_reached: impl Fn(Node) -> bool,
        is_taken: impl Fn(EdgeId) -> bool,
    ) -> Reaches {
        let graph = program.graph();
        let (mut nodes, mut edges) = (BitSet::new(graph.node_count()), BitSet::new(graph.edge_count()));
        graph.nodes().filter(|&n| is_reached(n)).for_each(|n| _ = nodes.insert(n.index()));
        graph.edges().filter(|&e| is_taken(e)).for_each(|e| _ = edges.insert(e.index()));
        Reaches { nodes, edges }
    }

    /// Whether control can come to a block.
    pub(crate) fn is_reached(&self, node: Node) -> bool {
        self.nodes.contains(node.index())
    }

    /// Whether control can take an edge.
    pub(crate) fn is_taken(&self, edge: EdgeId) -> bool {
        self.edges.contains(edge.index())
    }
}

impl<F: Lattice> AtDefinitions<F> {
    /// Solves a forward problem with so many sweeps of narrowing, on live ranges that are split by `strategy`. The
    /// dense solver widens where the sparse one does. Without narrowing both find the same; with it the dense one may
    /// find less, as it does not know what a variable's fact owes to itself.
    pub(crate) fn forward<P: Forward<Fact = F>>(
        program: &Program,
        strategy: &Strategy,
        problem: &P,
        solver: Solver,
        sweeps: usize,
    ) -> (AtDefinitions<F>, Reaches) {
        let ssi = ssify(program, strategy);
        match solver {
            Solver::Sparse => {
                let found = solve_forward_narrowing(program, &ssi, problem, sweeps);
                let reaches = Reaches::new(program, |n| found.is_reached(n), |e| found.is_taken(e));
                let work = Work { versions: ssi.versions(), steps: found.steps() };
                (AtDefinitions::sparse(program, work, |v| found.fact(v).clone()), reaches)
            }
            Solver::Dense => {
                let widening = WideningPoints::of(program, &ssi);
                let found = solve_forward_dense_at(program, problem, &widening, sweeps);
                let reaches = Reaches::new(program, |n| found.is_reached(n), |e| found.is_taken(e));
                let work = Work { versions: 0, steps: found.steps() };
                let at = |at, v| found.after(at, v);
                // Also of what nothing reads, which the dense solver does not follow.
                let on_entry = |v| problem.on_entry(v);
                (AtDefinitions::dense(program, work, at, |n, v| found.at_entry(n, v), on_entry), reaches)
            }
        }
    }

    /// Solves a backward problem on live ranges that are split already.
    pub(crate) fn backward<P: Backward<Fact = F>>(
        program: &Program,
        ssi: &Ssi,
        problem: &P,
        solver: Solver,
    ) -> AtDefinitions<F> {
        match solver {
            Solver::Sparse => {
                let found = solve_backward(program, ssi, problem);
                let work = Work { versions: ssi.versions(), steps: found.steps() };
                AtDefinitions::sparse(program, work, |v| found.fact(v).clone())
            }
            Solver::Dense => {
                let found = solve_backward_dense(program, problem);
                let work = Work { versions: 0, steps: found.steps() };
                let at = |at, v| found.after(at, v);
                let entry = program.graph().entry();
                let on_entry = |v| found.at_entry(entry, v);
                AtDefinitions::dense(program, work, at, |n, v| found.at_entry(n, v), on_entry)
            }
        }
    }

    fn sparse(program: &Program, work: Work, fact: impl Fn(Version) -> F) -> AtDefinitions<F> {
        AtDefinitions { facts: (0..program.variables() as u32).map(|v| fact(Version(v))).collect(), work }
    }

    /// What is known of a variable: `after` an instruction, `at_entry` of a block, `on_entry` if it is there from the
    /// start.
    fn dense(
        program: &Program,
        work: Work,
        after: impl Fn(Instruction, Variable) -> F,
        at_entry: impl Fn(Node, Variable) -> F,
        on_entry: impl Fn(Variable) -> F,
    ) -> AtDefinitions<F> {
        let graph = program.graph();
        let mut facts = vec![F::top(); program.variables()];
        for &v in program.on_entry() {
            facts[v.index()] = on_entry(v);
        }
        for node in graph.nodes() {
            for phi in graph.in_edges(node).first().into_iter().flat_map(|&e| program.phis(e)) {
                facts[phi.result.index()] = at_entry(node, phi.result);
            }
        }
        for at in (0..program.instructions() as u32).map(Instruction) {
            for &v in program.definitions(at) {
                facts[v.index()] = after(at, v);
            }
        }
        AtDefinitions { facts, work }
    }

    /// What is known of a value where it is defined; ⊤ if it never is.
    pub(crate) fn fact(&self, v: Value) -> &F {
        &self.facts[v.as_u32() as usize]
    }

    /// What solving took.
    pub(crate) fn work(&self) -> Work {
        self.work
    }
}
