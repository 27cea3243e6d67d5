//! Functions whose live ranges are split (paper 4): SSI, e-SSA and their relatives as code, and back to plain SSA form.
//!
//! Analyses need none of this: they work on a [`Program`](warpline_analysis::dataflow::Program) with its
//! [`Ssi`](warpline_analysis::ssi::Ssi), which is laid over a function that stays as it is (Section 6 of the paper).
//! Here the overlay is written into the function, for those who want to read it, run it, or transform it.
//!
//! * [`materialize()`]: added φs, σs and parallel copies become instructions.
//! * [`destroy()`]: they are taken away again.

mod destroy;
mod materialize;

pub use destroy::destroy;
pub use materialize::{Materialized, materialize};
