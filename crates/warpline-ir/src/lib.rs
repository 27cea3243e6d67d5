//! The intermediate representation.
//!
//! A [`Module`] holds functions, symbols (globals and functions that are referred to by name), aggregate
//! types, the data layout and source locations. A [`Function`] is a control-flow graph whose **edges are
//! first-class** ([`Edge`]): φ operands belong to edges, parallel edges are distinct, and redirecting an edge
//! moves its φ operands with it.
//!
//! Conventions
//! * Entities ([`Block`], [`Edge`], [`Inst`], [`Value`], [`Var`]) are `u32` ids; their `Display` is their name in
//!   the text form. Removed entities stay in their maps but are unlinked from the layout.
//! * The data (instructions, values) is kept apart from the order (the lists of instructions in the blocks,
//!   the list of blocks in the function).
//! * Constants are values too ([`ValueDef::Const`]), interned per function.
//! * A program that is not in SSA form uses variables ([`Op::ReadVar`], [`Op::WriteVar`]).
//! * Instructions that come from LLVM carry an [`Origin`], a handle that only the LLVM bridge understands.
//!
//! ```
//! use warpline_ir::text::{parse_module, print_module};
//! use warpline_ir::verify::verify;
//!
//! let module = parse_module("func @twice(%x: i32) -> i32 {\nb0:\n  %y: i32 = add %x, %x\n  ret %y\n}\n")?;
//! let twice = &module.functions[module.function("twice").expect("it is there")];
//! verify(&module, twice).expect("a valid function");
//! assert!(print_module(&module).contains("%y: i32 = add %x, %x"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]
// `cargo doc --document-private-items` has the modules that are not public.
#![allow(rustdoc::private_intra_doc_links)]

pub mod demangle;
pub mod group_functions;
pub mod group_operations;
pub mod pattern;
mod place;
pub mod printable;
pub mod text;
pub mod verify;

pub use demangle::demangle;
pub use place::Place;

mod access_types;
mod constant;
mod effects;
mod entities;
mod function;
mod functions;
mod inst;
mod lane;
mod layout;
mod module;
mod names;
mod phase;
mod pointer_facts;
mod types;
mod users;

pub use access_types::AccessTypes;
pub use constant::Constant;
pub use effects::Effects;
pub use entities::{AccessType, Block, Edge, FuncId, Inst, Loc, Origin, Symbol, Value, Var};
pub use function::{
    Accessed, BlockData, EdgeData, Function, GroupCount, InstData, Unwritten, ValueData, ValueDef, VarData,
};
pub use functions::Functions;
pub use inst::{
    Atomic, AtomicOrdering, BinaryOp, CallInfo, CastOp, FloatPred, InstFlags, IntPred, MemAccess, Op,
    OpaqueInfo, RmwOp,
};
pub use lane::{Combine, ELEMENTS as LANE_ELEMENTS, LaneOp, Yields};
pub use layout::DataLayout;
pub use module::{InitialAddress, Module, SourceLoc, SymbolData, SymbolKind};
pub use names::Names;
pub use phase::Phase;
pub use pointer_facts::PointerFacts;
pub use types::{Aggregate, AggregateType, FloatKind, OtherType, Scalar, Type, TypeTable, VectorType};
pub use users::Users;
