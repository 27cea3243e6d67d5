//! The runner of passes.

use std::fmt;
use std::time::{Duration, Instant};

use super::unit::{Context, Unit};
use super::{Info, PASSES, Pass, Phase};
use crate::VectorizeError;
use warpline_ir::verify::verify;
use warpline_ir::{Function, Module};

/// Is told of passes, and may keep optional ones from running.
pub trait Instrument: fmt::Debug + Sync {
    /// Whether an optional pass may run on a function.
    fn allows(&self, _pass: &'static Info, _func: &Function) -> bool {
        true
    }

    /// A pass begins.
    fn before(&self, _pass: &'static Info, _module: &Module, _func: &Function) {}

    /// A pass has ended, after so long, and has or has not changed the function.
    fn after(
        &self,
        _pass: &'static Info,
        _module: &Module,
        _func: &Function,
        _changed: bool,
        _took: Duration,
    ) {
    }

    /// A pass has ended that has also made this function, under another mask.
    fn also_after(&self, _pass: &'static Info, _module: &Module, _func: &Function) {}

    /// Something was done that took so long: an analysis, a check, or a step of a pass. Within a pass, it is part of that pass's time, too.
    fn part(&self, _name: &'static str, _took: Duration) {}

    /// Whether functions are to be verified after every pass, not only where they come into another phase.
    fn verifies_each(&self) -> bool {
        cfg!(debug_assertions)
    }
}

/// Wants to know nothing.
#[derive(Debug)]
pub struct Silent;

impl Instrument for Silent {}

/// Runs all [passes](PASSES).
///
/// # Errors
/// The first that a pass has, or if one leaves a function that is not valid.
pub(crate) fn run_all(unit: &mut Unit, cx: &Context<'_>) -> Result<(), VectorizeError> {
    PASSES.iter().try_for_each(|pass| run(pass, unit, cx))
}

pub(super) fn run(pass: &'static Pass, unit: &mut Unit, cx: &Context<'_>) -> Result<(), VectorizeError> {
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

/// Checks that a function is valid, by the rules of the IR and of its phase. Its invariants, dominance above all, hold, or nothing is made.
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
