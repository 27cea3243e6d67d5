//! The lane interpreter: the judge of everything that transforms or analyses programs.
//!
//! It shares no code with the analyses (it has its own cycles and its own convergence), is deterministic, and is exact
//! about poison. One [`Machine`] runs three kinds of program:
//!
//! * a scalar function as one thread ([`Machine::run_scalar`]);
//! * a scalar function as *W* threads in lockstep ([`Machine::run_lockstep`]): instances of an instruction are
//!   executed together iff they are related by LLVM's *maximal converged-with* relation for a chosen cycle
//!   hierarchy (see [`ChildOrder`]; `cycles` explains how). Memory is shared, an `alloca` belongs to its lane,
//!   effects happen in lane order; lanes that meet in memory are reported as [`RaceLog`];
//! * a lane program, as linearization makes it ([`Machine::run_lanes`]): control flow is uniform and blocks have
//!   masks. Instructions take effect where the block's mask is true; elsewhere their results are poison, or random
//!   bits ([`Inactive`]). `MaskAny`, `MaskAnd`, `MaskAndNot`, `MaskOr`, `Blend`, `BlendAny`, φs, variables and
//!   parallel copies are computed in all lanes. A mask that is poison in any lane, a branch on which active lanes
//!   differ and one that no active lane decides are errors.
//!
//! # The meaning of programs
//!
//! LLVM's, with these choices:
//! * A value is a row of [`Cell`]s, each defined, undef or poison. Poison is per scalar and per byte of memory. Undef
//!   is weaker than in LLVM: an operation on it yields undef even where some result is certain. A reference result
//!   that is undef can be refined by anything but poison, so nothing is claimed that LLVM does not promise.
//! * `freeze` of undef or poison chooses zero and sets [`Machine::froze`].
//! * Provenance is not tracked: a pointer is its address. `inbounds` is checked against the allocation that the base
//!   address lies in.
//! * Integers have at most 128 bits; `half`, `bfloat`, `float`, `double` are computed; other formats are carried.
//!   NaN payloads are those of the machine that interprets.
//! * Uninitialised memory is undef; a variable that was not written is poison.
//! * Fast-math flags: `nnan` and `ninf` make poison; the others allow but do not require other results, and are
//!   ignored.
//! * A lane operation whose condition is undef or poison in a lane that takes part yields that.
//!
//! ```
//! use warpline_interp::{Machine, Val};
//! use warpline_ir::text::parse_module;
//!
//! let module = parse_module("func @twice(%x: i32) -> i32 {\nb0:\n  %y: i32 = add %x, %x\n  ret %y\n}\n")?;
//! let mut machine = Machine::new(&module);
//! let code = machine.prepare_id(module.function("twice").expect("it is there"));
//! let returned = machine.run_scalar(&code, &[Val::signed(32, 21)]);
//! assert_eq!(returned, Ok(Val::signed(32, 42)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(unreachable_pub)]
// `cargo doc --document-private-items` has the modules that are not public.
#![allow(rustdoc::private_intra_doc_links)]

mod access;
mod atomic;
mod calls;
mod code;
mod cycles;
mod decode;
mod exec;
mod float;
mod group;
mod host;
mod intrinsic;
mod lane_ops;
mod lanes;
mod machine;
mod mathematics;
mod memory;
mod observe;
mod race;
mod scalar;
#[cfg(test)]
mod tests;
mod trap;
mod value;
mod work_group;

pub use code::Code;
pub use cycles::{ChildOrder, Nesting, Position};
pub use host::{Effect, EffectKind, HashingHost, Host, HostCall, HostResult, NoHost};
pub use machine::{Inactive, LaneArg, Machine, Options, Run};
pub use mathematics::Mathematics;
pub use memory::Memory;
pub use observe::{Event, Observer};
pub use race::{Race, RaceKind, RaceLog};
pub use trap::{Trap, TrapKind};
pub use value::{Cell, LaneSet, State, Val};
pub use work_group::{GroupRun, SubGroups};
