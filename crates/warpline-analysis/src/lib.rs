#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Nothing here knows an intermediate representation. A control-flow graph is anything that implements
//! [`Graph`]; the ready-made one is [`CsrGraph`]. On it work
//!
//! * [`order`]: depth-first orders, reachability, strongly connected components;
//! * [`dom`]: dominators, and post-dominators through [`Reversed`];
//! * [`cycles`]: the forest of cycles, reducible or not;
//! * [`frontier`]: dominance frontiers, single and iterated;
//! * [`phi_placement`]: which nodes need a φ-function for a variable;
//! * [`joins`]: where threads that part at a branch meet again; [`witness`]: by which paths;
//! * [`ssi`]: live ranges split as a data-flow analysis asks for; [`dataflow`]: the analyses, sparse and dense;
//! * [`uniformity`]: which values and branches all threads agree on.
//!
//! A [`Program`](dataflow::Program), described once, serves all of them. Mistakes in a description are
//! [errors](ProgramError).
//!
//! All algorithms are iterative: a chain of a hundred thousand nodes does not use up the stack. All results
//! are deterministic: they depend on the order of the edges and on nothing else.
#![no_std]
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]
// `cargo doc --document-private-items` has the modules that are not public.
#![allow(rustdoc::private_intra_doc_links)]

#[macro_use]
extern crate alloc;
#[cfg(feature = "baselines")]
extern crate std;

pub mod bitset;
pub mod cycles;
mod dag_dom;
pub mod dataflow;
pub mod dom;
mod flow;
mod frontier;
pub mod graph;
mod ids;
mod joins;
mod limits;
mod local;
pub mod order;
pub mod phi_placement;
mod program;
mod program_error;
mod regions;
mod rewired;
pub mod ssi;
mod structured;
mod undo;
pub mod uniformity;
mod witness;

pub use bitset::BitSet;
pub use cycles::{CycleForest, CycleId};
pub use dom::DomTree;
pub use frontier::{IteratedFrontier, dominance_frontier};
pub use graph::{CsrGraph, EdgeId, Edges, Graph, GraphError, Lists, Node, Reversed};
pub use joins::{JoinSet, Joins, Split};
pub use limits::Limits;
pub use order::{DfsOrder, Sccs};
pub use program_error::ProgramError;
pub use undo::UndoLog;
pub use uniformity::{SsaProgram, Uniformity};
pub use witness::{Inside, Step, Witness};
