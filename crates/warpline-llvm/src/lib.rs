//! The LLVM bridge: import, export, targets, optimise, run in place.
//!
//! Everything here works with the LLVM of the machine it runs on, opened at run time (see [`Llvm`]); building needs
//! none. All `unsafe` code of warpline lives in this crate.
//!
//! - [`Module`] is a module of LLVM IR with the context it lives in: read, verify, print, write, optimise.
//! - [`Cpu`], [`TargetMachine`] and [`Emit`] produce machine code.
//! - [`Imported`] is a module in LLVM's form and in warpline's; [`Bridge`] leads back.
//! - [`compile`] calls rustc or clang; [`openmp`] reads OpenMP's directives; [`Module::simplify`] brings what they
//!   write to a usable form.
//! - [`Jit`] runs machine code in this process.
//! - [`Stopwatch`] measures processor time.
//! - [`child`] limits processes that this one starts, and hears from them.
//! - [`worker`] does all this for input that is not trusted.
//! - [`Error`] is everything that can go wrong.
//!
//! ```
//! use warpline_llvm::InputKind;
//!
//! assert!(InputKind::of("kernel.cl".as_ref())?.is_source());
//! assert_eq!(InputKind::of("kernel.bc".as_ref())?, InputKind::Bitcode);
//! # Ok::<(), warpline_llvm::Error>(())
//! ```

#![warn(unreachable_pub)]
// `cargo doc --document-private-items` has the modules that are not public.
#![allow(rustdoc::private_intra_doc_links)]

mod any_lane;
mod bfloat;
mod bit_count;
mod byte_shifts;
mod cache;
mod called_kernels;
mod callees;
pub mod child;
mod cleanups;
mod clock;
mod complex;
mod debug_builder;
pub mod described;
mod error;
mod export;
mod facts;
mod ffi;
pub mod flags;
mod frontend;
mod import;
mod indices;
mod input_kind;
mod internalize;
mod jit;
mod lane_operations;
mod loop_forest;
mod loop_marks;
mod loop_versions;
mod mask_parts;
mod mask_reads;
mod mask_webs;
mod masks;
mod math_calls;
mod module;
mod narrowed_numbers;
mod nesting;
mod opcodes;
mod opencl;
pub mod openmp;
pub mod package;
mod panics;
mod parameter_names;
mod parameters;
mod pointers;
mod print;
mod private_parts;
mod ranges;
mod recent;
mod second_results;
mod simplify;
mod small_copies;
mod stack_alignment;
mod sysroot_cache;
mod tables;
mod target;
mod text_module;
mod tools;
mod unroll;
mod vectors;
mod versions;
mod wide_accesses;
mod work_items;
pub mod worker;

pub use callees::FinalBodies;
pub use clock::Stopwatch;
pub use error::{Error, Result, did_you_mean};
pub use export::Linkage;
pub use facts::target_of_triple;
pub use ffi::load::Llvm;
pub use flags::{CompilerFlags, Dependencies};
pub use frontend::{Compiled, FrontEnd, compile, has_clang, openmp_directives};
pub use import::Imported;
pub use input_kind::InputKind;
pub use jit::{Entry, Jit, JitFunction, process_has_symbol};
pub use loop_marks::MarkedLoop;
pub use loop_versions::Seen;
pub use module::{Diagnostic, Module, Severity};
pub use opencl::defines_opencl_builtin;
pub use tables::Bridge;
pub use target::{Cpu, Effort, Emit, TargetMachine, host_triple, is_host};
pub use tools::on_path;
pub use versions::{Tool, tools};
pub use warpline_lanes::C_HEADER;
