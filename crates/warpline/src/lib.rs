//! warpline: SPMD programs. What all lanes agree on, and code that runs on many lanes at once.
//!
//! Each part is a crate of its own; this one has them all under one name.
//!
//! * [`analysis`]: graphs, dominance, cycles and data flow over plain arrays.
//! * [`ir`]: the intermediate representation. It owns meaning: everything that a transformation may
//!   change is modelled here, everything else is an opaque instruction with an effect record.
//! * [`text`]: the text form of modules, a printer and a parser; [`verify`]: the invariants of functions, and their
//!   checker.
//! * [`group_functions`]: what work-items ask and do together, by names and signatures.
//! * [`printable`]: text from inputs, for terminals.
//! * [`ssa`]: from variables to SSA form and back; [`ssi`]: functions whose live ranges are split, and back.
//! * [`dataflow`]: data-flow analyses of functions, sparse and dense, and their clients.
//! * [`linear`]: numbers and addresses as sums, and loops that count.
//! * [`uniformity`]: which values, branches and loops the lanes agree on, and why; [`shape`]: how the lanes of a
//!   value relate.
//! * [`observe`]: what a program's timing tells of its secrets.
//! * [`interp`]: the lane interpreter, the judge of transformations.
//! * [`vectorize`]: from a scalar kernel to W lanes.
//! * [`llvm`]: LLVM: import, export, optimization, machine code.
//! * [`compile`]: from a source file to an object file.
//! * [`jit`]: the same in memory, for programs that call what they compile.
//!
//! ```
//! use warpline::text::parse_module;
//! use warpline::uniformity::{Options, Uniformity};
//!
//! let module = parse_module("func @f(%x: i32) -> i32 {\nb0:\n  %y: i32 = add %x, 1\n  ret %y\n}\n")?;
//! let func = &module.functions[module.function("f").expect("it is there")];
//! let found = Uniformity::compute(&module, func, &Options::default());
//! assert_eq!(found.divergent_branches().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub use warpline_analysis as analysis;
pub use warpline_compile as compile;
pub use warpline_compile::jit;
pub use warpline_dataflow as dataflow;
pub use warpline_dataflow::{linear, ssa, ssi};
pub use warpline_interp as interp;
pub use warpline_ir as ir;
pub use warpline_ir::{Place, demangle, group_functions, printable, text, verify};
pub use warpline_llvm as llvm;
pub use warpline_uniformity as uniformity;
pub use warpline_uniformity::{observe, shape};
pub use warpline_vectorize as vectorize;
