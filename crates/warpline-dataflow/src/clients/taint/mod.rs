//! Taint: whether data from outside may come to where it does harm without having been made clean.
//!
//! Paper 4, Figure 3; Rimsa, d'Amorim and Pereira, *Tainted Flow Analysis on e-SSA-form Programs*, CC 2011. A
//! *forward* problem that is one of *partitioned lattices*: a value is clean (⊤) or tainted, and depends on its
//! operands. **Strategy**: *Defs*↓ ∪ *Out(Conds)*↓, e-SSA, where the conditions that count are the results of checks
//! that the user names.
//!
//! **What flows.** Data: what an instruction computes is tainted if an operand is, also the condition of a `select`
//! and the index of an address; what is read at a tainted address is. That tainted data decides *whether* something
//! is executed taints nothing, as usual in such analyses. Comparisons do not make clean unless that is asked for.
//!
//! **Memory** is divided into cells, by unification over the whole module (Steensgaard), and a cell is tainted
//! throughout if tainted data may be stored in it at any time. What lies in one object is not told apart. Memory that
//! unknown code may reach is one cell. Only what a pointer leads to that was checked or made clean in place is
//! followed in the order of execution.
//!
//! **Calls.** Functions of the module are followed, all calls of one together, recursion included: functions are
//! solved again until nothing more is tainted between them. Well-known functions of C's library have models; nothing
//! of what they are given is kept. Any other function, and a function pointer, may keep and write whatever it is
//! given or can reach, may call the functions of the module that are visible outside or whose address is taken, and
//! returns tainted data if any of that is tainted. Sanitizers are trusted: they do nothing but what they are named
//! for. Opaque instructions are treated as calls. **Poison and undef** are clean.

mod calls;
mod cells;
mod checks;
mod explain;
mod flows;
mod models;
mod problem;
mod report;
mod solve;
mod spec;

pub use explain::Step;
pub use problem::Taint;
pub use report::{FindingReport, TaintReport, analyse};
pub use spec::{At, Entry, Spec, SpecError, Spot};

use crate::report::{Description, Direction, Kind};

/// What this client is.
pub const DESCRIPTION: Description = Description {
    name: "taint",
    question: "whether data from outside may come to where it does harm without having been made clean",
    direction: Direction::Forward,
    strategy: "Defs↓ ∪ Out(Conds)↓",
    kind: Kind::PartitionedLattice,
    reference: "Rimsa, d'Amorim and Pereira 2011",
};
