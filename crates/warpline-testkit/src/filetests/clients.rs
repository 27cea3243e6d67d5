//! The commands that show what data-flow clients find. Each is solved sparsely and densely; that the reports agree is
//! part of the test.

use std::collections::BTreeSet;

use warpline_dataflow::clients::{classes, null_pointers, taint};
use warpline_dataflow::report::{Report, Solver};
use warpline_ir::{FuncId, Module};

use super::Case;

fn both<R: Report + PartialEq + std::fmt::Debug>(
    case: &Case<'_>,
    run: impl Fn(FuncId, Solver) -> R,
) -> String {
    let Some(id) = case.module.function(&case.func.name) else { return String::new() };
    let (sparse, dense) = (run(id, Solver::Sparse), run(id, Solver::Dense));
    if sparse != dense {
        return format!("sparse and dense solutions differ: {sparse:?} and {dense:?}\n");
    }
    let mut out = String::new();
    sparse.write_text(&mut out);
    out
}

/// Methods that objects must offer.
pub(super) fn class_inference(case: &Case<'_>) -> String {
    both(case, |id, solver| classes::analyse(case.module, id, false, solver).0)
}

/// The same where tests of classes tell.
pub(super) fn occurrence_types(case: &Case<'_>) -> String {
    both(case, |id, solver| classes::analyse(case.module, id, true, solver).0)
}

/// Dereferences of null, and tests for null.
pub(super) fn nulls(case: &Case<'_>) -> String {
    let known = null_pointers::Known::default();
    both(case, |id, solver| null_pointers::analyse(case.module, id, &known, solver).0)
}

/// Data from outside that comes to sinks: with C's functions, and the sanitizers that are the arguments. All
/// functions are closed to the outside.
pub(super) fn taints(case: &Case<'_>) -> String {
    let spec = match taint::Spec::new(None, None, Some(case.args)) {
        Ok(spec) => spec,
        Err(e) => return format!("error: {e}\n"),
    };
    let closed = own(case.module);
    both(case, |id, solver| {
        let (mut all, _) = taint::analyse(case.module, &spec, &closed, solver);
        all.remove(&id).unwrap_or_default()
    })
}

/// All symbols of a module.
fn own(module: &Module) -> BTreeSet<warpline_ir::Symbol> {
    module.symbols.keys().collect()
}
