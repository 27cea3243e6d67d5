//! The passes of the vectorizer, by name and in their order.
//!
//! [`PASSES`] is the only place that says what happens to a kernel, and when. In the order of reading:
//! * this file: the list;
//! * `pass` (beside this folder): what a pass is, and its runner; [`Phase`]: what holds of a function before and
//!   after it;
//! * `named`: single passes, for `warpline opt` and file tests;
//! * `observer`: the instrument behind `--print-after`, `--time-passes`, `--disable-pass` and the like.
//!
//! A new pass is a function of `&mut Unit` and `&Context` in a file of its own, and a line in the list;
//! ARCHITECTURE.md has an example.

mod named;
mod observer;
#[cfg(test)]
mod tests;

pub use named::run_named;
pub use observer::{Observer, Request};

pub use crate::instrument::{Info, Instrument, Silent};
pub use crate::lane_program::INSERT_BOSCC;
pub use crate::pass::Pass;
pub use warpline_ir::Phase;

use super::pass::{Context, Unit, needed, optional, run};
use super::{
    VectorizeError, cleanup, dynamic_uniformity, hoist_loads, if_conversion, lane_program, narrow, normalize,
    passed_guards, private_memory, scalarize, sign_masks, sink_stores, small_sums, split_conditions, widen,
    wrapping_indices,
};
use Phase::{Canonical, Linearized, Scalar, Vector};
use warpline_dataflow::ssa;

/// All passes over single functions, in the order in which they run. Kernels that ask which work-item they are have
/// become others before ([`work_items`](super::work_items)); [`LOWER`] makes vector instructions of the result.
#[rustfmt::skip]
pub static PASSES: [Pass; 17] = [
    needed("dissolve-copies", Scalar, Scalar, dissolve_copies, "copies become what they copy"),
    optional("select-by-signs", Scalar, sign_masks::run, "what is computed with masks of signs is selected"),
    optional("split-conditions", Scalar, split_conditions::run, "uniform parts of conditions get branches of \
     their own"),
    optional("if-convert-arms", Scalar, if_conversion::run, "branches whose arms access the same memory become \
     straight code"),
    optional("sink-stores", Scalar, sink_stores::run, "stores that both arms end with move behind the branch"),
    optional("hoist-loads", Scalar, hoist_loads::run, "loads that all ways from a branch make are made before it"),
    optional("duplicate-coherent-loops", Scalar, dynamic_uniformity::run, "bodies of loops are made twice, for when \
     lanes agree"),
    optional("duplicate-passed-guards", Scalar, passed_guards::run, "what guards like `i < n` guard is made twice, for \
     when all lanes pass"),
    optional("mark-small-sums", Scalar, small_sums::run, "sums of numbers that are too small to wrap say so"),
    optional("duplicate-wrapping-indices", Scalar, wrapping_indices::run, "accesses by indices that might wrap between \
     lanes are made twice, for when they do not"),
    needed("canonicalize", Scalar, Canonical, canonicalize, "normal form: reducible loops, one exit, loop-closed SSA"),
    needed("scalarize-vectors", Canonical, Canonical, scalarize::run, "vectors that differ between lanes become \
     elements"),
    optional("narrow-integers", Canonical, narrow::run, "integers are computed with in as few bits as their ranges \
     and uses allow"),
    optional("interleave-private", Canonical, interleave_private, "private arrays lie side by side, element by \
     element"),
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

/// What is known of all passes, in their order.
pub fn all() -> impl Iterator<Item = &'static Info> {
    PASSES.iter().map(|p| &p.info).chain([&INSERT_BOSCC, &LOWER])
}

/// Runs all [passes](PASSES).
///
/// # Errors
/// The first that a pass has, or if one leaves a function that is not valid.
pub(crate) fn run_all(unit: &mut Unit, cx: &Context<'_>) -> Result<(), VectorizeError> {
    PASSES.iter().try_for_each(|pass| run(pass, unit, cx))
}

fn dissolve_copies(unit: &mut Unit, _: &Context<'_>) -> Result<bool, VectorizeError> {
    Ok(ssa::copies::dissolve_copies(&mut unit.func) > 0)
}

fn canonicalize(unit: &mut Unit, _: &Context<'_>) -> Result<bool, VectorizeError> {
    normalize::normalize(&mut unit.func).map(|()| true)
}

fn interleave_private(unit: &mut Unit, cx: &Context<'_>) -> Result<bool, VectorizeError> {
    let uniformity = cx.uniformity(unit);
    let wanted = |v| uniformity.is_divergent(v);
    unit.laid_out = private_memory::interleave(cx.module, &mut unit.func, cx.options.width, wanted);
    Ok(!unit.laid_out.is_empty())
}

fn simplify_masks(unit: &mut Unit, _: &Context<'_>) -> Result<bool, VectorizeError> {
    unit.more.iter_mut().chain([&mut unit.func]).for_each(cleanup::simplify_masks);
    Ok(true)
}
