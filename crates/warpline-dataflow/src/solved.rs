//! A forward problem, solved either way, asked at the uses of a program.

use warpline_analysis::bitset::BitSet;
use warpline_analysis::dataflow::{
    Forward, Instruction, Lattice, Program, solve_forward, solve_forward_dense,
};
use warpline_analysis::ssi::Ssi;
use warpline_analysis::{EdgeId, Graph, Node};

use super::report::{Solver, Work};

/// The solution of a forward problem: facts at uses, whichever solver found them.
pub struct Solved<F> {
    /// By the places of operands, [`Program::use_slots`].
    used: Vec<F>,
    /// By the places of operands of φs, [`Program::phi_slots`].
    phi_operands: Vec<F>,
    reached: BitSet,
    taken: BitSet,
    work: Work,
}

impl<F: Lattice> Solved<F> {
    /// Solves `problem`; for the sparse solver `split` splits live ranges.
    pub fn forward<P: Forward<Fact = F>>(
        program: &Program,
        split: impl FnOnce(&Program) -> Ssi,
        problem: &P,
        solver: Solver,
    ) -> Solved<F> {
        match solver {
            Solver::Sparse => {
                let ssi = split(program);
                let facts = solve_forward(program, &ssi, problem);
                let fact = |version: Option<_>| version.map_or_else(F::top, |v| facts.fact(v).clone());
                Solved::collect(
                    program,
                    |at, k| fact(ssi.used(program.use_slots(at).start + k)),
                    |edge, k| fact(ssi.phi_operand(program.phi_slots(edge).start + k)),
                    |node| facts.is_reached(node),
                    |edge| facts.is_taken(edge),
                    Work { versions: ssi.versions(), steps: facts.steps() },
                )
            }
            Solver::Dense => {
                let facts = solve_forward_dense(program, problem);
                Solved::collect(
                    program,
                    |at, k| facts.before(at, program.uses(at)[k]),
                    |edge, k| facts.on_edge(edge, program.phis(edge)[k].operand),
                    |node| facts.is_reached(node),
                    |edge| facts.is_taken(edge),
                    Work { versions: 0, steps: facts.steps() },
                )
            }
        }
    }

    /// Takes the facts at uses out of a solution.
    fn collect(
        program: &Program,
        used: impl Fn(Instruction, usize) -> F,
        phi_operand: impl Fn(EdgeId, usize) -> F,
        is_reached: impl Fn(Node) -> bool,
        is_taken: impl Fn(EdgeId) -> bool,
        work: Work,
    ) -> Solved<F> {
        let graph = program.graph();
        let (mut reached, mut taken) = (BitSet::new(graph.node_count()), BitSet::new(graph.edge_count()));
        (0..graph.node_count()).filter(|&n| is_reached(Node::new(n))).for_each(|n| {
            reached.insert(n);
        });
        (0..graph.edge_count()).filter(|&e| is_taken(EdgeId::new(e))).for_each(|e| {
            taken.insert(e);
        });
        let mut all_used = Vec::new();
        for at in (0..program.instructions() as u32).map(Instruction) {
            let is_reached = reached.contains(program.block_of(at).index());
            let uses = 0..program.uses(at).len();
            all_used.extend(uses.map(|k| if is_reached { used(at, k) } else { F::top() }));
        }
        let mut phi_operands = Vec::new();
        for edge in (0..graph.edge_count()).map(EdgeId::new) {
            let is_taken = taken.contains(edge.index());
            let phis = 0..program.phis(edge).len();
            phi_operands.extend(phis.map(|k| if is_taken { phi_operand(edge, k) } else { F::top() }));
        }
        Solved { used: all_used, phi_operands, reached, taken, work }
    }

    /// What is known of an operand before its instruction; ⊤ if control does not come there.
    pub fn used(&self, program: &Program, at: Instruction, operand: usize) -> &F {
        &self.used[program.use_slots(at)][operand]
    }

    /// What is known of the operand of a φ of the program, by its number among those of the edge; ⊤ if control does
    /// not take the edge.
    pub fn phi_operand(&self, program: &Program, edge: EdgeId, phi: usize) -> &F {
        &self.phi_operands[program.phi_slots(edge)][phi]
    }

    /// Whether control can come to a block.
    pub fn is_reached(&self, node: Node) -> bool {
        self.reached.contains(node.index())
    }

    /// Whether control can take an edge.
    pub fn is_taken(&self, edge: EdgeId) -> bool {
        self.taken.contains(edge.index())
    }

    /// What solving took.
    pub fn work(&self) -> Work {
        self.work
    }
}
