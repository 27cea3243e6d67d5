//! From variables to SSA form and back.
//!
//! * [`construct`](mod@construct): strict, pruned SSA construction for chosen variables.

mod construct;

pub use construct::{SsaStats, construct, construct_vars, remove_dead_phis};
