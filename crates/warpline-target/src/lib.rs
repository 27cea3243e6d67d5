//! What CPUs have for vectors, and what their instructions cost.
//!
//! A [`Machine`] is the one description of a CPU that all cost models read. It has the vector registers, what is
//! gathered, scattered and accessed under masks, and a [table](Table) of what operations
//! cost. Features of the CPU decide about the former, its name about the latter; a CPU without a table has that of the
//! [nearest] one.
//!
//! Figures of cost models are calibrated on a Zen 3 and scaled by what tables say of other CPUs.
//!
//! ```
//! use warpline_target::{Machine, nearest};
//!
//! let zen = nearest("znver4", true, 512);
//! let machine = Machine::of(zen);
//! assert!(machine.line_bits() >= 256);
//! assert!(machine.pace() > 0.0);
//! ```

#![forbid(unsafe_code)]

mod cpus;
mod lanes;
mod machine;
mod operation;
mod table;

pub use cpus::{Core, Cpu, all, nearest};
pub use lanes::Lanes;
pub use machine::{Gathers, Machine, Masks, Packing, Rates};
pub use operation::{Cost, Element, Op};
pub use table::{Row, Table};
