//! The runner of passes.

use std::time::Instant;

use super::Pass;
use super::unit::{Context, Unit};
use crate::VectorizeError;
use crate::instrument::{Info, Instrument};
use crate::phase::Phase;
use warpline_ir::verify::verify;
use warpline_ir::{Function, Module};

/// Runs a pass on a function, unless it is optional and the instrument does not allow it.
///
/// # Errors
/// What the pass finds, or if it leaves a function that is not valid.
pub(crate) fn run(pass: &'static Pass, unit: &mut Unit, cx: &Context<'_>) -> Result<(), VectorizeError> {
    let info = &pass.info;
    if unit.phase != info.from {
        let (name, is, wants) = (info.name, unit.phase.name(), info.from.name());
        let reason = format!("pass {name} takes {wants} functions, and this one is {is}");
        return Err(VectorizeError::in_function(&unit.func, reason).internal());
    }
    let instrument = cx.instrument();
    if info.is_optional && !instrument.allows(info, &unit.func) {
        return Ok(());
    }
    instrument.before(info, cx.module, &unit.func);
    let begun = Instant::now();
    let changed = (pass.run)(unit, cx)?;
    let took = begun.elapsed();
    unit.phase = info.to;
    log::trace!("{}: pass {} in {took:?}, changed: {changed}", unit.func.name, info.name);
    if changed {
        unit.forget();
    }
    instrument.after(info, cx.module, &unit.func, changed, took);
    unit.more.iter().for_each(|func| instrument.also_after(info, cx.module, func));
    if changed && (info.from != info.to || instrument.verifies_each()) {
        verify_unit(unit, cx, info.name)?;
    }
    Ok(())
}

/// Checks that a function is valid, by the rules of the IR and of its phase. Its invariants, dominance above all,
/// hold, or nothing is made.
pub(crate) fn verify_unit(unit: &Unit, cx: &Context<'_>, after: &str) -> Result<(), VectorizeError> {
    unit.more.iter().chain([&unit.func]).try_for_each(|func| verify_function(func, unit.phase, cx, after))
}

fn verify_function(
    func: &Function,
    phase: Phase,
    cx: &Context<'_>,
    after: &str,
) -> Result<(), VectorizeError> {
    cx.part("verify", || {
        let broken = |e: String| {
            VectorizeError::in_function(func, format!("{after} left a function that is not valid:\n{e}"))
                .internal()
        };
        verify(cx.module, func).map_err(|e| broken(e.to_string()))?;
        phase.violation(func).map_or(Ok(()), |violation| Err(broken(violation)))
    })
}

/// Does what is a pass, but no function of a [`Unit`], and tells the instrument.
pub(crate) fn announce<T>(
    info: &'static Info,
    instrument: &dyn Instrument,
    module: &mut Module,
    before: &Function,
    work: impl FnOnce(&mut Module) -> Result<T, VectorizeError>,
    made: impl Fn(&T) -> &Function,
) -> Result<T, VectorizeError> {
    instrument.before(info, module, before);
    let begun = Instant::now();
    let result = work(module)?;
    let took = begun.elapsed();
    instrument.after(info, module, made(&result), true, took);
    Ok(result)
}
