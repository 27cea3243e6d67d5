//! Data-flow analyses over variables, sparse and dense.
//!
//! * [`Program`]: what is used and defined where.
//! * [`Lattice`]: facts about one variable.
//! * [`Forward`], [`Backward`]: problems, as transfer functions that both solvers use.
//!
//! Paper 4: Tavares, Boissinot, Pereira, Rastello, *Parameterized Construction of Program Representations for Sparse Dataflow
//! Analyses*, Inria RR-8491, 2014. Live ranges are split by [`ssi`](crate::ssi).

mod lattice;
mod problem;
mod program;

pub use lattice::Lattice;
pub use problem::{Backward, BackwardEdge, BackwardFacts, Forward, ForwardEdge, ForwardFacts};
pub use program::{Instruction, PhiMove, Program, ProgramBuilder, Test, TestKind, Variable};
