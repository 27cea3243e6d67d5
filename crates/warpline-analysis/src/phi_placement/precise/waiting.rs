//! Marks that wait to be taken, those on the deepest levels first.

use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// Marks by level. What has been taken is seldom deeper than what comes later, so a set of the levels at which marks
/// wait, 64 to a word, finds the deepest one sooner than a heap.
#[derive(Default)]
pub(super) struct Waiting {
    /// By level the mark that waits there and came last.
    last: Vec<u32>,
    /// By mark the one that waits at the same level and came before it.
    before: Vec<u32>,
    /// The levels at which marks wait, as bits.
    levels: Vec<u64>,
    /// No word behind this many has a bit.
    words: usize,
    len: usize,
}

impl Waiting {
    pub(super) fn clear(&mut self) {
        while self.pop().is_some() {}
        self.before.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Has the next mark wait: they are added in the order of their numbers, from 0.
    #[inline]
    pub(super) fn push(&mut self, level: u32) {
        let (level, mark) = (level as usize, self.before.len() as u32);
        if level >= self.last.len() {
            self.last.resize(level + 1, NONE);
            self.levels.resize(level / 64 + 1, 0);
        }
        self.before.push(self.last[level]);
        self.last[level] = mark;
        self.levels[level / 64] |= 1 << (level % 64);
        self.words = self.words.max(level / 64 + 1);
        self.len += 1;
    }

    /// Takes out one of the deepest marks.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let word = loop {
            let word = self.words.checked_sub(1)?;
            if self.levels[word] != 0 {
                break word;
            }
            self.words = word;
        };
        let bit = self.levels[word].ilog2();
        let level = 64 * word + bit as usize;
        let mark = self.last[level];
        self.last[level] = self.before[mark as usize];
        if self.last[level] == NONE {
            self.levels[word] &= !(1 << bit);
        }
        self.len -= 1;
        Some(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_comes_first() {
        let mut waiting = Waiting::default();
        for round in 0..3 {
            [3, 200, 70, 3, 64].into_iter().for_each(|level| waiting.push(level));
            assert_eq!((waiting.len(), waiting.pop()), (5, Some(1)));
            waiting.push(199);
            assert_eq!([waiting.pop(), waiting.pop(), waiting.pop()], [Some(5), Some(2), Some(4)]);
            let rest = [waiting.pop(), waiting.pop()];
            assert!(rest == [Some(3), Some(0)] && waiting.pop().is_none() && waiting.is_empty(), "{round}");
            waiting.push(7);
            waiting.clear();
            assert!(waiting.is_empty());
        }
    }
}
