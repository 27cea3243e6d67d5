//! Tables that are changed on the way down a tree and are what they were again on the way back.

use alloc::vec::Vec;

/// What entries of a table were before each change.
#[derive(Clone, Debug)]
pub struct UndoLog<T> {
    log: Vec<(usize, T)>,
}

impl<T> Default for UndoLog<T> {
    fn default() -> Self {
        UndoLog { log: Vec::new() }
    }
}

impl<T> UndoLog<T> {
    /// Changes an entry of the table. O(1).
    pub fn set(&mut self, table: &mut [T], at: usize, now: T) {
        self.log.push((at, core::mem::replace(&mut table[at], now)));
    }

    /// What brings the table back to how it is now, if [`undo_to`](Self::undo_to) is given it. O(1).
    pub fn mark(&self) -> usize {
        self.log.len()
    }

    /// Takes the changes since a mark back, the last one first. Linear in these.
    pub fn undo_to(&mut self, mark: usize, table: &mut [T]) {
        for (at, old) in self.log.drain(mark..).rev() {
            table[at] = old;
        }
    }

    /// Forgets all changes: they stay.
    #[cfg(feature = "baselines")]
    pub(crate) fn keep_all(&mut self) {
        self.log.clear();
    }
}
