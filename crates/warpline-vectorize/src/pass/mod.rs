//! What a pass is, what it works on, and how it is run. Which there are says [`passes`](crate::passes).
//!
//! * this file: [`Pass`];
//! * `unit`: what a pass works on (`Unit`), what it may ask (`Context`) and the analyses that are kept between passes;
//! * `run`: the runner, which skips, verifies and times a pass, and tells an
//!   [`Instrument`](crate::instrument::Instrument).

mod run;
mod unit;

pub(crate) use run::{announce, run, verify_unit};
pub(crate) use unit::{Context, LaneFacts, Unit};

use crate::VectorizeError;
use crate::instrument::Info;
use warpline_ir::Phase;

/// What a pass does to a function: whether it changed anything.
type Run = fn(&mut Unit, &Context<'_>) -> Result<bool, VectorizeError>;

/// A pass: from a function in one phase to a function in another one, or the same.
pub struct Pass {
    /// What is known of it.
    pub info: Info,
    run: Run,
}

pub(crate) const fn needed(name: &'static str, from: Phase, to: Phase, run: Run, what: &'static str) -> Pass {
    Pass { info: Info { name, from, to, is_optional: false, what }, run }
}

pub(crate) const fn optional(name: &'static str, phase: Phase, run: Run, what: &'static str) -> Pass {
    Pass { info: Info { name, from: phase, to: phase, is_optional: true, what }, run }
}
