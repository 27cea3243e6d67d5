//! Data-flow problems with one lattice per variable (paper 4, Definitions 1 and 2), as transfer functions.
//!
//! A client states what happens at *sites*: at an instruction, and on an edge out of a block that tests variables. It
//! speaks of operands and results by position and never of versions, so the same client runs densely, on a state at
//! each program point, and sparsely, on facts of versions ([`Ssi`](crate::ssi::Ssi)). φ-functions, those of the
//! program and those that splitting adds, are the solvers' business: they pass facts on unchanged.

use super::lattice::Lattice;
use crate::graph::{EdgeId, Node};
use crate::program::{Instruction, Variable};

/// What a forward transfer function of an instruction reads and writes.
pub trait ForwardFacts<F> {
    /// What is known of operand number `operand` before the instruction.
    fn before(&self, operand: usize) -> &F;

    /// Says what is known of result number `result`.
    fn define(&mut self, result: usize, fact: F);

    /// Says what is known of the variable that operand number `operand` is, after the instruction. For problems that
    /// take information from uses, with a strategy that splits there; without a word nothing changes.
    fn refine(&mut self, operand: usize, fact: F);
}

/// What a forward transfer function of an edge reads and writes.
pub trait ForwardEdge<F> {
    /// What is known of tested variable number `test` of the edge's source, at the end of that block.
    fn before(&self, test: usize) -> &F;

    /// Says what is known of it when the edge is taken; without a word nothing changes.
    fn refine(&mut self, test: usize, fact: F);
}

/// A forward problem.
pub trait Forward {
    /// What is known of one variable.
    type Fact: Lattice;

    /// What is known of a variable of [`Program::on_entry`](super::Program::on_entry) when control enters.
    fn on_entry(&self, variable: Variable) -> Self::Fact;

    /// The transfer function of an instruction: must define every result.
    fn instruction(&self, at: Instruction, facts: &mut impl ForwardFacts<Self::Fact>);

    /// The transfer function of an edge, also of one whose source tests nothing. Returns whether control can take the
    /// edge, as far as the tested variables tell: with lower facts it must not become impossible again.
    fn edge(&self, edge: EdgeId, facts: &mut impl ForwardEdge<Self::Fact>) -> bool {
        let _ = (edge, facts);
        true
    }

    /// Makes chains short: called where a φ-function at the header `node` of a cycle, or the state of a variable
    /// there, would be lowered from `old` to `new`; returns what it is lowered to, which must not be above `new` (it
    /// is met with it). The sparse solver says [where exactly](super::solve_forward). Both solvers agree if the
    /// result depends on `new` alone, is monotone, and stays the same if it is widened again; else each finds a sound
    /// solution, which depends on the order of evaluation.
    fn widen(&self, node: Node, old: &Self::Fact, new: Self::Fact) -> Self::Fact {
        let _ = (node, old);
        new
    }
}

/// What a backward transfer function of an instruction reads and writes.
pub trait BackwardFacts<F> {
    /// What is known of result number `result`, from its uses.
    fn result(&self, result: usize) -> &F;

    /// What is known after the instruction of the variable that operand number `operand` is: [`Lattice::top`] if it
    /// is not live there, or if its live range is not split here.
    fn after(&self, operand: usize) -> &F;

    /// Lowers what is known of operand number `operand` before the instruction. What is known after it is carried
    /// over unless [`BackwardFacts::replace`] is called instead.
    fn lower(&mut self, operand: usize, fact: F);

    /// As `lower`, but what is known after the instruction is not carried over: `fact` has taken account of it. Only
    /// with a strategy that splits at uses.
    fn replace(&mut self, operand: usize, fact: F);
}

/// What a backward transfer function of an edge reads and writes.
pub trait BackwardEdge<F> {
    /// What is known of tested variable number `test` of the edge's source once the edge is taken.
    fn after(&self, test: usize) -> &F;

    /// Says what is known of it before, at the end of the block, from this edge; without a word it is what is known
    /// after. Only with a strategy that splits at conditions.
    fn replace(&mut self, test: usize, fact: F);
}

/// A backward problem.
pub trait Backward {
    /// What is known of one variable.
    type Fact: Lattice;

    /// The transfer function of an instruction.
    fn instruction(&self, at: Instruction, facts: &mut impl BackwardFacts<Self::Fact>);

    /// The transfer function of an edge out of a block that tests variables.
    fn edge(&self, edge: EdgeId, facts: &mut impl BackwardEdge<Self::Fact>) {
        let _ = (edge, facts);
    }
}
