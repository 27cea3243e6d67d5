//! The passes of the vectorizer, by name and in their order.
//!
//! [`PASSES`] is the only place that says what happens to a kernel, and when. In the order of reading:
//! * this file: [`Info`], [`Pass`] and the list;
//! * `phase`: what holds of a function before and after a pass ([`Phase`]);
//! * `unit`: what a pass works on (`Unit`), what it may ask (`Context`) and the analyses that are kept between passes;
//! * `run`: the runner, which skips, verifies and times passes, and tells an [`Instrument`];
//! * `named`: single passes, for `warpline opt` and file tests;
//! * `observer`: the instrument behind `--print-after`, `--time-passes`, `--disable-pass` and the like.
//!
//! A new pass is a function of `&mut Unit` and `&Context` in a file of its own, and a line in the list; ARCHITECTURE.md has an example.

mod named;
mod observer;
mod phase;
mod run;
#[cfg(test)]
mod tests;
mod unit;

pub use named::run_named;
pub use observer::{Observer, Request};
pub use phase::Phase;
pub use run::{Instrument, Silent};
pub(crate) use run::{announce, run_all, verify_unit};
pub(crate) use unit::{Context, LaneFacts, Unit};

use super::{
    VectorizeError, arms, cleanup, coherence, conditions, lane_program, normalize, private_memory, scalarize,
    sink, widen,
};
use Phase::{Canonical, Linearized, Scalar, Vector};
use warpline_dataflow::ssa;

/// What is known of a pass.
#[derive(Debug)]
pub struct Info {
    /// Its name: what `--print-after` and `--disable-pass` take.
    pub name: &'static str,
    /// The phase of the functions that it takes.
    pub from: Phase,
    /// The phase of those that it gives.
    pub to: Phase,
    /// Whether code is right without it, and only slower or less often accepted.
    pub is_optional: bool,
    /// What it does, in a line.
    pub what: &'static str,
}

/// What a pass does to a function: whether it changed anything.
type Run = fn(&mut Unit, &Context<'_>) -> Result<bool, VectorizeError>;

/// A pass: from a function in one phase to a function in another one, or the same.
pub struct Pass {
    /// What is known of it.
    pub info: Info,
    run: Run,
}

const fn needed(name: &'static str, from: Phase, to: Phase, run: Run, what: &'static str) -> Pass {
    Pass { info: Info { name, from, to, is_optional: false, what }, run }
}

const fn optional(name: &'static str, phase: Phase, run: Run, what: &'static str) -> Pass {
    Pass { info: Info { name, from: phase, to: phase, is_optional: true, what }, run }
}

/// All passes over single functions, in the order in which they run. Kernels that ask which work-item they are have become others before
/// ([`work_items`](super::work_items)); [`LOWER`] makes vector instructions of the result.
#[rustfmt::skip]
pub static PASSES: [Pass; 11] = [
    needed("dissolve-copies", Scalar, Scalar, dissolve_copies, "copies become what they copy"),
    optional("split-conditions", Scalar, conditions::run, "uniform parts of conditions get branches of their own"),
    optional("if-convert-arms", Scalar, arms::run, "branches whose arms access the same memory become straight code"),
    optional("sink-stores", Scalar, sink::run, "stores that both arms end with move behind the branch"),
    optional("duplicate-coherent-loops", Scalar, coherence::run, "bodies of loops are made twice, for when lanes agree"),
    needed("canonicalize", Scalar, Canonical, canonicalize, "normal form: reducible loops, one exit, loop-closed SSA"),
    needed("scalarize-vectors", Canonical, Canonical, scalarize::run, "vectors that differ between lanes become elements"),
    optional("interleave-private", Canonical, private_memory::run, "private arrays lie side by side, element by element"),
    optional("widen-indices", Canonical, widen::run, "indices are extended before they are computed with"),
    needed("linearize", Canonical, Linearized, lane_program::run, "the control flow becomes uniform, under masks"),
    needed("simplify-masks", Linearized, Linearized, simplify_masks, "masks are folded; unused ones go"),
];

/// The pass that makes vector instructions of a linearized function.
pub static LOWER: Info = Info {
    name: "lower",
    from: Linearized,
    to: Vector,
    is_optional: false,
    what: "every instruction becomes one for all lanes, or one for each",
};

/// The step of `linearize` that adds tests for speed.
pub static INSERT_BOSCC: Info = Info {
    name: "insert-boscc",
    from: Canonical,
    to: Linearized,
    is_optional: true,
    what: "tests skip what probably no lane wants; a step of `linearize`",
};

/// What is known of all passes, in their order.
pub fn all() -> impl Iterator<Item = &'static Info> {
    PASSES.iter().map(|p| &p.info).chain([&INSERT_BOSCC, &LOWER])
}

fn dissolve_copies(unit: &mut Unit, _: &Context<'_>) -> Result<bool, VectorizeError> {
    Ok(ssa::copies::dissolve_copies(&mut unit.func) > 0)
}

fn canonicalize(unit: &mut Unit, _: &Context<'_>) -> Result<bool, VectorizeError> {
    normalize::normalize(&mut unit.func).map(|()| true)
}

fn simplify_masks(unit: &mut Unit, _: &Context<'_>) -> Result<bool, VectorizeError> {
    unit.more.iter_mut().chain([&mut unit.func]).for_each(cleanup::simplify_masks);
    Ok(true)
}
