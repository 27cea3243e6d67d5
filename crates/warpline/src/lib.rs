//! warpline: the IR, SSA and variables, the vectorizer and the lane interpreter.
//!
//! * [`ir`]: the intermediate representation. It owns meaning: everything that a transformation may
//!   change is modelled here, everything else is an opaque instruction with an effect record.
//!
//! Nothing here knows LLVM; the crate `warpline-llvm` imports and exports.
#![forbid(unsafe_code)]

pub mod ir;
pub mod ssa;
pub mod vectorize;
