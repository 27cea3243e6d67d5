//! Operations on lanes that a kernel may call, and the attribute [`kernel`](macro@kernel) that marks kernels.
//!
//! A kernel is written for one lane; warpline runs it on W lanes at once. By these functions it can look at the other
//! lanes of its group. They speak of the lanes that are *active*: those that execute the call together. In a program
//! that is not vectorized, each means what one lane alone would see.
//!
//! These are declarations; warpline puts the operation in place of each call. For an ordinary scalar build, the
//! feature `scalar` defines the functions. A single file that says `use warpline_lanes::…` can be given to the
//! program `warpline` as it is, and one in C, C++ or OpenCL C that includes `warpline.h`: it finds
//! [both](RUST_SOURCE) [by itself](C_HEADER).
//!
//! ```
//! # #[cfg(feature = "scalar")] {
//! use warpline_lanes::*;
//! assert!(warpline_any(true) && warpline_lane_count() == 1);
//! assert_eq!((warpline_reduce_add(2.5), warpline_scan_exclusive_max(7u8)), (2.5, 0));
//! # }
//! ```
#![no_std]

mod operations;

pub use operations::*;
pub use warpline_macros::kernel;

/// The text of this crate's operations, which is a crate without `std` of its own.
pub const RUST_SOURCE: &str = include_str!("operations.rs");

/// The text of `warpline.h`: the same operations for C, C++ and OpenCL C.
pub const C_HEADER: &str = include_str!("../include/warpline.h");
