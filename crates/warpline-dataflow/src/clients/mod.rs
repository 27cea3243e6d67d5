//! Analyses that are clients of the data-flow solvers, one module each.
//!
//! * [`bit_widths`]: how many bits of each integer are needed.
//! * [`bounds`]: which checks can never fail.
//! * [`classes`]: which methods objects must offer.
//! * [`constants`]: conditional constant propagation; [`interprocedural`]: the same across calls.
//! * [`dead_code`]: what computes nothing that matters.
//! * [`liveness`]: what is read later.
//! * [`null_pointers`]: dereferences of null, and tests for null with one outcome.
//! * [`ranges`]: integer ranges.
//! * [`reaching_definitions`]: which computations a φ or a read may see.
//! * [`taint`]: data from outside that comes to where it does harm.
//!
//! They share [`edges`]: what branches tell; [`intrinsics`]: LLVM's functions on integers; [`numbers`].
//!
//! Each says what its lattice is, by which strategy live ranges are split for it, in which direction it works,
//! whether it is a partitioned-variable or a partitioned-lattice problem, and how it treats memory, calls, poison and
//! undef.

pub mod bit_widths;
pub mod bounds;
pub mod classes;
pub mod constants;
pub mod dead_code;
pub mod edges;
pub mod interprocedural;
pub mod intrinsics;
pub mod liveness;
pub mod null_pointers;
pub mod numbers;
pub mod ranges;
pub mod reaching_definitions;
pub mod taint;
