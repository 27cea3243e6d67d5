//! Numbers and addresses as linear expressions, and loops that count: the one place where a sum is taken apart.
//!
//! * `sum`: an integer as `Σ scale · number + constant`, modulo a power of two;
//! * `address`: a pointer as a root and such a sum of bytes;
//! * `counter`: a φ that grows by a constant in each iteration, and how often a loop goes round that tests it.
//!
//! Whoever asks whether two accesses touch, are neighbours, or wrap (alignment, words, gathers, run-time checks, trip
//! counts) asks here. What is claimed is a congruence and holds wherever the values are not poison; whether anything
//! wraps is for the caller to show.

mod address;
mod counter;
mod sum;

pub use address::{Address, same_address, step};
pub use counter::{Counter, addition, rounds};
pub use sum::{Extension, Sum, Term};
