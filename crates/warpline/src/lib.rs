//! warpline: the IR, SSA and variables, the vectorizer and the lane interpreter.
//!
//! * [`ir`]: the intermediate representation. It owns meaning: everything that a transformation may
//!   change is modelled here, everything else is an opaque instruction with an effect record.
//! * [`dataflow`]: data-flow analyses of functions, sparse and dense, and their clients.
//! * [`group_functions`]: what work-items ask and do together, by names and signatures.
//! * [`interp`]: the lane interpreter, the judge of transformations.
//! * [`linear`]: numbers and addresses as sums, and loops that count.
//! * [`observe`]: what a program's timing tells of its secrets.
//! * [`printable`]: text from inputs, for terminals.
//! * [`shape`]: how the lanes of a value relate: uniform, strided, varying.
//! * [`ssa`]: from variables to SSA form and back.
//! * [`ssi`]: functions whose live ranges are split, and back.
//! * [`text`]: the text form of modules, a printer and a parser.
//! * [`uniformity`]: which values, branches and loops the lanes agree on, and why.
//! * [`vectorize`]: from a scalar kernel to W lanes.
//! * [`verify`]: the invariants of functions, and their checker.
//!
//! Nothing here knows LLVM; the crate `warpline-llvm` imports and exports.
#![forbid(unsafe_code)]

pub mod dataflow;
mod demangle;
pub mod group_functions;
pub mod interp;
pub mod ir;
pub mod linear;
pub mod observe;
mod place;
pub mod printable;
pub mod shape;
pub mod ssa;
pub mod ssi;
pub mod text;
pub mod uniformity;
pub mod vectorize;
pub mod verify;

pub use demangle::demangle;
pub use place::Place;
