//! Where the time goes.

use std::time::{Duration, Instant};

use super::clock::Clock;

/// How long the parts of an analysis took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// What the algorithm prepares before it looks at any branch: the head-rewired graph, post-dominators.
    pub setup: Duration,
    /// Finding joins and exits of divergent branches, and noting which φs and uses are divergent for that.
    pub control: Duration,
    /// All of it: the two parts, depth-first order, cycles, and the spread along operands.
    pub full: Duration,
    /// How many steps were made on walks from branches to joins: a measure of work that does not depend on the machine.
    pub steps: usize,
}

impl core::ops::AddAssign for Times {
    fn add_assign(&mut self, other: Times) {
        self.setup += other.setup;
        self.control += other.control;
        self.full += other.full;
        self.steps += other.steps;
    }
}

impl Clock for Times {
    fn setup<R>(&mut self, part: impl FnOnce() -> R) -> R {
        timed(&mut self.setup, part)
    }
    fn control<R>(&mut self, part: impl FnOnce() -> R) -> R {
        timed(&mut self.control, part)
    }
    fn steps(&mut self, steps: usize) {
        self.steps += steps;
    }
}

/// Adds the time that `part` takes to `sum`.
pub(super) fn timed<R>(sum: &mut Duration, part: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = part();
    *sum += start.elapsed();
    result
}
