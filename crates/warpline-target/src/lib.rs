//! What CPUs have for vectors, and what their instructions cost.
//!
//! A [`Machine`] is the one description of a CPU that all cost models read. It has the vector registers, what is
//! gathered, scattered and accessed under masks, and what operations cost.

#![forbid(unsafe_code)]

mod lanes;
mod machine;
mod operation;

pub use lanes::Lanes;
pub use machine::{Gathers, Machine, Masks, Rates};
pub use operation::{Cost, Element, Op};
