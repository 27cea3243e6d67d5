//! From the source of a scalar kernel to code for many lanes: what the program `warpline` and build scripts share.
//!
//! - [`kernel::open`] reads an input, chooses the function and settles shapes, width and CPU ([`kernel::Kernel`]).
//! - [`choice`] says which functions of it are meant, [`unasked`] whether their loops are.
//! - [`vectorize::vectorize`] makes the W-lane function and its drivers, and code of them.
//! - [`dispatch::vectorize`] does so for several CPUs at once, among which a program chooses when it runs.
//! - [`loops`] vectorizes loops within their functions, for one CPU or several.
//! - [`jit`] does all of this in memory, for programs that call what they compile.
//! - [`remarks`] says why code is not as fast as one might think.
//! - [`header::Header`] is a C header for these, with the types of the source ([`source_types`]).
//! - [`signature`] reads what a marked kernel looks like to Rust.
//! - [`directives`] are facts about a kernel in comment lines of its source, [`spec`] what stands in them.
//! - [`error::Error`] is everything that can go wrong.
//!
//! A program that uses this crate calls `warpline_llvm::worker::serve_if_asked` first of all in `main`, unless it
//! compiles within its own process:
//!
//! ```
//! use warpline_compile::jit::{Code, Language};
//! use warpline_llvm::worker::{self, Worker};
//!
//! # if !warpline_llvm::has_clang() { return Ok(()) }
//! worker::set(Worker::ThisProcess);
//! let source = "void scale(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2; }";
//! let code = Code::of_source(Language::C, source)?;
//! assert_eq!(code.object.made.len(), 1); // the loop was vectorized
//! let address = code.address("scale")?; // of a function with the type of the source's
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]
// `cargo doc --document-private-items` has the modules that are not public.
#![allow(rustdoc::private_intra_doc_links)]

pub mod asked;
mod c_names;
mod callable;
pub mod choice;
pub mod cpus;
pub mod directives;
pub mod dispatch;
pub mod error;
mod exclusive;
mod find_loops;
mod group_sizes;
pub mod groups;
pub mod header;
mod instrumentation;
pub mod jit;
pub mod kernel;
pub mod libmvec;
mod loop_dispatch;
pub mod loops;
pub mod machine;
pub mod math;
mod number;
mod openmp;
mod options;
mod own;
pub mod package;
pub mod profile;
pub mod remarks;
mod resolver;
pub mod signature;
pub mod source_types;
pub mod spec;
mod threads;
pub mod unasked;
pub mod vectorize;

pub use error::{Error, Result};
pub use options::{KernelOptions, VectorizeOptions};
