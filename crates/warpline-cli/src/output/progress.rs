//! Progress of long work: a line on standard error, if that is a terminal, with a bar where there are several pieces.
//!
//! It appears when work has taken a while, changes with what is done, and makes room for whatever else is printed. There
//! is no thread behind it, so that it costs nothing while code is timed.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpline::ir::{Function, Module, demangle};
use warpline::printable::line;
use warpline::vectorize::passes::{Info, Instrument};

/// How long work takes of which nothing is shown.
const PATIENCE: Duration = Duration::from_millis(400);

/// Clears a line of a terminal, and goes to its begin.
const CLEAR: &[u8] = b"\r\x1b[K";

/// What is shown, if work goes on of which something may be.
static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);

struct Shown {
    bar: ProgressBar,
    /// Whether there are several pieces, and what is said is which of them.
    in_pieces: bool,
    begun: Instant,
    is_drawn: bool,
}

impl Shown {
    /// Draws it from now on, if work has taken a while.
    fn draw_late(&mut self) {
        if !self.is_drawn && self.begun.elapsed() >= PATIENCE {
            self.is_drawn = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.tick();
        }
    }
}

fn shown() -> MutexGuard<'static, Option<Shown>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work of which progress is shown until this is dropped.
#[must_use]
pub(crate) struct Progress {
    /// Whether it is this work that is shown, and not work around it.
    is_own: bool,
}

/// Work in so many pieces begins. It is shown on terminals only, and not to those who want no reports.
pub(crate) fn begin(pieces: usize, quiet: bool) -> Progress {
    let mut shown = shown();
    let is_own = !quiet && shown.is_none() && std::io::stderr().is_terminal();
    if is_own {
        let bar = ProgressBar::with_draw_target(Some(pieces as u64), ProgressDrawTarget::hidden());
        let in_pieces = pieces > 1;
        let template = if in_pieces { "{bar:30} {pos}/{len} {wide_msg}" } else { "{elapsed} {wide_msg}" };
        // The templates are constants that are right.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        *shown = Some(Shown { bar, in_pieces, begun: Instant::now(), is_drawn: false });
    }
    Progress { is_own }
}

impl Progress {
    /// Says which piece is worked on.
    pub(crate) fn piece(&self, name: &str) {
        if let (true, Some(shown)) = (self.is_own, &mut *shown()) {
            shown.bar.set_message(line(name).into_owned());
            shown.draw_late();
        }
    }

    /// Says that a piece is done.
    pub(crate) fn piece_is_done(&self) {
        if let (true, Some(shown)) = (self.is_own, &mut *shown()) {
            shown.bar.inc(1);
            shown.draw_late();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_own
            && let Some(shown) = shown().take()
        {
            shown.bar.finish_and_clear();
        }
    }
}

/// Does what may print, while nothing is shown.
pub(crate) fn without<T>(work: impl FnOnce() -> T) -> T {
    let drawn = {
        let mut shown = shown();
        let drawn = shown.as_mut().filter(|shown| shown.is_drawn);
        drawn.map(|shown| {
            shown.is_drawn = false;
            shown.bar.set_draw_target(ProgressDrawTarget::hidden());
            clear_line();
        })
    };
    let done = work();
    if drawn.is_some()
        && let Some(shown) = &mut *shown()
    {
        shown.draw_late();
    }
    done
}

/// Takes away what a process has left on the terminal that was ended while something was shown.
pub(crate) fn clear_line() {
    if std::io::stderr().is_terminal() {
        let _ = std::io::stderr().lock().write_all(CLEAR);
    }
}

/// Shows which pass runs on which function, where work is not in pieces.
#[derive(Debug)]
pub(crate) struct Passes;

impl Instrument for Passes {
    fn before(&self, pass: &'static Info, _module: &Module, func: &Function) {
        if let Some(shown) = &mut *shown()
            && !shown.in_pieces
        {
            shown.bar.set_message(format!("{}: {}", line(&of_source(&func.name)), pass.name));
            shown.draw_late();
        }
    }
}

/// The name in the source of a function or of what is made of it, such as `f` of `f.for.cond.x16`.
fn of_source(name: &str) -> String {
    demangle(name.split('.').next().unwrap_or(name))
}
