//! Data-flow analyses of functions (paper 4).
//!
//! * [`Code`]: a function as [`warpline_analysis::dataflow`] sees it.
//! * [`conditions`]: what holds on the edges out of branches.
//! * [`clients`]: the analyses, [`report`]: what they have in common.
//! * [`Solved`]: a forward problem solved either way, asked at uses.
//!
//! Solvers, lattices and splitting are in [`warpline_analysis::dataflow`] and [`warpline_analysis::ssi`].
//!
//! ```
//! use warpline_analysis::dataflow::solve_forward;
//! use warpline_analysis::ssi::{Version, ssify};
//! use warpline_dataflow::Code;
//! use warpline_dataflow::clients::constants::Constants;
//! use warpline_ir::text::parse_module;
//!
//! let text = "func @f(%c: i1) -> i32 {\nb0:\n  %a: i32 = add 2, 3\n  %b: i32 = mul %a, 4\n  ret %b\n}\n";
//! let module = parse_module(text)?;
//! let func = &module.functions[module.function("f").expect("it is there")];
//! let code = Code::of(func);
//! let ssi = ssify(code.program(), &Constants::<()>::STRATEGY);
//! let found = solve_forward(code.program(), &ssi, &Constants::new(&module, func, &code));
//! let b = func.values.iter().find(|(_, data)| &*data.name == "b").expect("it is there").0;
//! assert!(found.fact(Version(b.as_u32())).known().is_some()); // always 20
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]
// `cargo doc --document-private-items` has the modules that are not public.
#![allow(rustdoc::private_intra_doc_links)]

mod at_definitions;
pub mod clients;
mod code;
pub mod conditions;
pub mod linear;
pub mod memory;
pub mod report;
mod solved;
pub mod ssa;
pub mod ssi;

pub use code::{Additions, Code};
pub use solved::Solved;
