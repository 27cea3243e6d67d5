//! Data-flow analyses over variables, sparse and dense.
//!
//! * [`Program`]: what is used and defined where.
//! * [`Lattice`]: facts about one variable; [`AnyOf`] and [`AllOf`] are sets of any size.
//! * [`Forward`], [`Backward`]: problems, as transfer functions that both solvers use.
//! * [`solve_forward`], [`solve_backward`]: the greatest solution, one fact per version ([`Ssi`](crate::ssi::Ssi)).
//! * [`solve_forward_dense`], [`solve_backward_dense`]: the same with a fact per program point, to compare with.
//! * [`extending`]: relations between variables, predicated code, memory.
//! * [`Engine`]: which constraint is evaluated next; for problems of other kinds, too.
//!
//! Paper 4: Tavares, Boissinot, Pereira, Rastello, *Parameterized Construction of Program Representations for Sparse
//! Dataflow Analyses*, Inria RR-8491, 2014. Live ranges are split by [`ssi`](crate::ssi).

mod constraints;
#[cfg(feature = "baselines")]
mod dense_backward;
#[cfg(feature = "baselines")]
mod dense_forward;
mod engine;
pub mod extending;
mod lattice;
mod live;
mod problem;
mod sets;
mod sparse_backward;
mod sparse_forward;

pub use crate::program::{Instruction, PhiMove, Program, ProgramBuilder, Test, TestKind, Variable};
pub use crate::program_error::ProgramError;
#[cfg(feature = "baselines")]
pub use dense_backward::{DenseBackward, solve_backward_dense};
#[cfg(feature = "baselines")]
pub use dense_forward::{DenseForward, WideningPoints, solve_forward_dense, solve_forward_dense_at};
pub use engine::{Engine, Schedule};
pub use lattice::Lattice;
pub use live::LiveVariables;
pub use problem::{Backward, BackwardEdge, BackwardFacts, Forward, ForwardEdge, ForwardFacts};
pub use sets::{AllOf, AnyOf};
pub use sparse_backward::{SparseBackward, solve_backward, solve_backward_with};
pub use sparse_forward::{
    ForwardOptions, SparseForward, solve_forward, solve_forward_narrowing, solve_forward_with,
};
