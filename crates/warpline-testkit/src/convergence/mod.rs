//! Convergence by definition: what paper 2 (*Convergence And Uniformity*) says of threads, computed from its words.
//!
//! * [`hierarchies`](crate::hierarchies), beside this folder: every cycle hierarchy of a graph, from every
//!   depth-first walk.
//! * [`relation`]: the maximal converged-with relation of recorded traces, from its definition and from its
//!   characterization by cases, and the convergence-before order that goes with it.
//! * [`m_converged`]: the nodes whose relation is the same in every hierarchy.
//! * [`criteria`]: the diverged entry criterion on closed paths and diverged paths that reach a cycle, by enumeration,
//!   beside the simplification by dominance.
//!
//! All of it is meant for graphs of a few nodes. The judge that is fast enough for many programs,
//! [`lockstep`](crate::lockstep), compares instances by [tags](crate::tagged); that tags say the same as the
//! definition is tested.

pub mod criteria;
pub mod m_converged;
pub mod relation;

use warpline_analysis::Node;

/// The nodes that a thread executes, in order.
pub type Trace = Vec<Node>;
