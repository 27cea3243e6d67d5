//! Who is told when a part of the analysis begins and ends.

/// Is told when a part begins and ends.
pub(super) trait Clock {
    /// Does what an algorithm prepares.
    fn setup<R>(&mut self, part: impl FnOnce() -> R) -> R;
    /// Follows one split.
    fn control<R>(&mut self, part: impl FnOnce() -> R) -> R;
    /// How many steps that took.
    fn steps(&mut self, _: usize) {}
}

/// Nobody wants to know: costs nothing.
pub(super) struct NoClock;

impl Clock for NoClock {
    fn setup<R>(&mut self, part: impl FnOnce() -> R) -> R {
        part()
    }
    fn control<R>(&mut self, part: impl FnOnce() -> R) -> R {
        part()
    }
}
