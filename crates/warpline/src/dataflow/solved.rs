//! A forward problem, solved either way, asked at the uses of a program.

use warpline_analysis::dataflow::{Forward, Instruction, Lattice, Program, SparseForward, solve_forward};
use warpline_analysis::ssi::{Ssi, Strategy};
use warpline_analysis::{EdgeId, Node};

use super::report::{Solver, Work};

/// The solution of a forward problem: facts at uses, whichever solver found them.
pub struct Solved<F> {
    solution: Solution<F>,
}

enum Solution<F> {
    Sparse(Ssi, SparseForward<F>),
}

impl<F: Lattice> Solved<F> {
    /// Solves `problem`; for the sparse solver live ranges are split by `strategy`.
    pub fn forward<P: Forward<Fact = F>>(
        program: &Program,
        strategy: &Strategy,
        problem: &P,
        solver: Solver,
    ) -> Solved<F> {
        // Live ranges are not split yet, so what uses and tests tell is not made use of; facts at definitions are right.
        let _ = (strategy, solver);
        let ssi = Ssi::unsplit(program);
        let facts = solve_forward(program, &ssi, problem);
        let solution = Solution::Sparse(ssi, facts);
        Solved { solution }
    }

    /// What is known of an operand before its instruction; ⊤ if control does not come there.
    pub fn used(&self, program: &Program, at: Instruction, operand: usize) -> F {
        if !self.is_reached(program.block_of(at)) {
            return F::top();
        }
        match &self.solution {
            Solution::Sparse(ssi, facts) => {
                let slot = program.use_slots(at).start + operand;
                ssi.used(slot).map_or_else(F::top, |v| facts.fact(v).clone())
            }
        }
    }

    /// What is known of the operand of a φ of the program, by its number among those of the edge; ⊤ if control does not take the edge.
    pub fn phi_operand(&self, program: &Program, edge: EdgeId, phi: usize) -> F {
        if !self.is_taken(edge) {
            return F::top();
        }
        match &self.solution {
            Solution::Sparse(ssi, facts) => {
                let slot = program.phi_slots(edge).start + phi;
                ssi.phi_operand(slot).map_or_else(F::top, |v| facts.fact(v).clone())
            }
        }
    }

    /// Whether control can come to a block.
    pub fn is_reached(&self, node: Node) -> bool {
        match &self.solution {
            Solution::Sparse(_, facts) => facts.is_reached(node),
        }
    }

    /// Whether control can take an edge.
    pub fn is_taken(&self, edge: EdgeId) -> bool {
        match &self.solution {
            Solution::Sparse(_, facts) => facts.is_taken(edge),
        }
    }

    /// What solving took.
    pub fn work(&self) -> Work {
        match &self.solution {
            Solution::Sparse(ssi, facts) => Work { versions: ssi.versions(), steps: facts.steps() },
        }
    }
}
