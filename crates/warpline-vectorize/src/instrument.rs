//! Who is told of passes: [`Instrument`].

use std::fmt;
use std::time::Duration;

use warpline_ir::Phase;
use warpline_ir::{Function, Module};

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

    /// Something was done that took so long: an analysis, a check, or a step of a pass. Within a pass, it is part of
    /// that pass's time, too.
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
