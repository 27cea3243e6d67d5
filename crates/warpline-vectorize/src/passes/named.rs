//! Passes by name, on single functions: what `warpline opt` and file tests run.

use std::sync::Arc;

use super::{PASSES, Pass, Phase};
use crate::VectorizeError;
use crate::call_graph::functions_with_cross_lane_operations;
use crate::options::Options;
use crate::pass::{Context, Unit, run, verify_unit};
use warpline_ir::{Function, Module};

/// Runs passes on a function: those with these names, in this order. `@NAME` stands for all passes of the list that
/// the function has yet to go through, up to and including that one.
///
/// # Errors
/// If there is no such pass, if one takes functions of another phase (the message says which pass is missing), or
/// whatever a pass finds.
pub fn run_named(
    module: &Module,
    func: &Function,
    names: &[&str],
    options: &Options<'_>,
) -> Result<Function, VectorizeError> {
    let mut unit = Unit::new(func.clone());
    let lane_callees = Arc::new(functions_with_cross_lane_operations(module, func));
    let forms = &[options.form()];
    let cx = Context { forms, ..Context::new(module, options, lane_callees) };
    verify_unit(&unit, &cx, "whoever made it")?;
    for name in names {
        match name.strip_prefix('@') {
            Some(last) => {
                let last = position(func, last)?;
                let first =
                    PASSES.iter().position(|p| p.info.from >= unit.func.phase).unwrap_or(PASSES.len());
                for pass in PASSES.get(first..=last).unwrap_or_default() {
                    step(pass, &mut unit, &cx)?;
                }
            }
            None => step(&PASSES[position(func, name)?], &mut unit, &cx)?,
        }
    }
    Ok(unit.func)
}

fn position(func: &Function, name: &str) -> Result<usize, VectorizeError> {
    PASSES.iter().position(|p| p.info.name == name).ok_or_else(|| {
        let names: Vec<&str> = PASSES.iter().map(|p| p.info.name).collect();
        let reason = format!("there is no pass `{name}`; passes are {}", names.join(", "));
        VectorizeError::in_function(func, reason).bad_options()
    })
}

fn step(pass: &'static Pass, unit: &mut Unit, cx: &Context<'_>) -> Result<(), VectorizeError> {
    let wanted = pass.info.from;
    // A function in normal form is a scalar one like others.
    if wanted == Phase::Scalar && unit.func.phase == Phase::Canonical {
        unit.func.phase = Phase::Scalar;
    }
    if unit.func.phase != wanted {
        let missing = PASSES.iter().find(|p| p.info.to == wanted && p.info.from != wanted);
        let hint = match missing.filter(|_| unit.func.phase < wanted) {
            Some(missing) => format!(": run `{}` before it", missing.info.name),
            None => String::new(),
        };
        let (name, wanted, is) = (pass.info.name, wanted.name(), unit.func.phase.name());
        let reason = format!("pass `{name}` takes {wanted} functions, and this one is {is}{hint}");
        return Err(VectorizeError::in_function(&unit.func, reason).bad_options());
    }
    run(pass, unit, cx)?;
    verify_unit(unit, cx, pass.info.name)
}
