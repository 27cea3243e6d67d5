//! The runner of passes.

use std::time::Instant;

use super::Pass;
use super::unit::{Context, Unit};
use crate::VectorizeError;
use crate::instrument::{Info, Instrument};
use warpline_ir::verify::{VerifyErrors, verify};
use warpline_ir::{Function, Module};

/// Runs a pass on a function, unless it is optional and the instrument does not allow it.
///
/// # Errors
/// What the pass finds, or if it leaves a function that is not valid.
pub(crate) fn run(pass: &'static Pass, unit: &mut Unit, cx: &Context<'_>) -> Result<(), VectorizeError> {
    let info = &pass.info;
    if unit.func.phase != info.from {
        let (name, is, wants) = (info.name, unit.func.phase.name(), info.from.name());
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
    unit.more.iter_mut().chain([&mut unit.func]).for_each(|func| func.phase = info.to);
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
    unit.more.iter().chain([&unit.func]).try_for_each(|func| verify_function(func, cx, after))
}

fn verify_function(func: &Function, cx: &Context<'_>, after: &str) -> Result<(), VectorizeError> {
    let broken = |e: VerifyErrors| {
        let reason = format!("{after} left a function that is not valid:\n{e}");
        VectorizeError::in_function(func, reason).internal()
    };
    cx.part("verify", || verify(cx.module, func).map_err(broken))
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
