//! A depth-first walk on which each block finds what the one before it on the way left.

use warpline_analysis::{DfsOrder, Node, UndoLog};

/// The log of a walk: what entries of a table were before each change on the way from the entry. Blocks come in
/// depth-first pre-order; the table has one entry per variable.
pub(super) struct UndoWalk<T> {
    /// The blocks on the way, each with the mark of the log before it.
    way: Vec<(Node, usize)>,
    log: UndoLog<T>,
}

impl<T: Copy> UndoWalk<T> {
    pub(super) fn new() -> Self {
        UndoWalk { way: Vec::new(), log: UndoLog::default() }
    }

    /// Goes on to the next block in pre-order: the table becomes what it was at the end of its parent.
    pub(super) fn enter(&mut self, dfs: &DfsOrder, node: Node, table: &mut [T]) {
        let parent = dfs.parent(node);
        while let Some(&(_, mark)) = self.way.last().filter(|w| Some(w.0) != parent) {
            self.log.undo_to(mark, table);
            self.way.pop();
        }
        self.way.push((node, self.log.mark()));
    }

    /// Changes an entry of the table.
    pub(super) fn set(&mut self, table: &mut [T], at: usize, now: T) {
        self.log.set(table, at, now);
    }

    /// Back to before the entry.
    pub(super) fn leave_all(&mut self, table: &mut [T]) {
        self.way.clear();
        self.log.undo_to(0, table);
    }
}
