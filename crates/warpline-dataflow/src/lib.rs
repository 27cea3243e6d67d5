//! Data-flow analyses of functions (paper 4).
//!
//! * [`Code`]: a function as [`warpline_analysis::dataflow`] sees it.
//! * [`conditions`]: what holds on the edges out of branches.
//! * [`clients`]: the analyses, [`report`]: what they have in common.
//! * [`Solved`]: a forward problem solved either way, asked at uses.
//!
//! Solvers, lattices and splitting are in [`warpline_analysis::dataflow`] and [`warpline_analysis::ssi`].
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]
// `cargo doc --document-private-items` has the modules that are not public.
#![allow(rustdoc::private_intra_doc_links)]

pub mod clients;
mod code;
pub mod conditions;
pub mod linear;
pub mod memory;
pub mod report;
mod solved;
pub mod ssa;
pub mod ssi;

pub use code::{Additions, Code};
pub use solved::Solved;
