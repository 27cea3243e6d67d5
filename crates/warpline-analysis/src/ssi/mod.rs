//! Live ranges split as a client asks for, so that every fact about a variable holds in its whole live range.
//!
//! Paper 4: Tavares, Boissinot, Pereira, Rastello, *Parameterized Construction of Program Representations for Sparse Dataflow
//! Analyses*, Inria RR-8491, 2014.

mod strategy;
mod versions;

pub use strategy::{Conditions, Strategy};
pub use versions::{Ssi, Version, VersionDef};
