//! The propagation engine (paper 4, Figure 10) without facts: which constraints wait to be evaluated, and which is
//! next.
//!
//! A constraint is a number; what evaluating it means is its owner's business. It waits at most once. Whoever
//! evaluates one enqueues all that may give a different answer now. Mostly these are users of what was lowered, but
//! any reason will do (*dynamic control edges*): an edge that control turns out to take enqueues what is behind it, a
//! branch that turns out divergent enqueues the φs at its joins.
//!
//! ```
//! use warpline_analysis::dataflow::{Engine, Schedule};
//!
//! // Which numbers are reached from 0 if each leads to its double and to three times itself?
//! let mut reached = [false; 100];
//! let mut engine = Engine::new(100, Schedule::Sweeps);
//! engine.enqueue(1);
//! while let Some(n) = engine.next() {
//!     reached[n as usize] = true;
//!     for next in [2 * n, 3 * n] {
//!         if next < 100 && !reached[next as usize] {
//!             engine.enqueue(next);
//!         }
//!     }
//! }
//! assert_eq!(reached.iter().filter(|&&r| r).count(), 20);
//! ```

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::bitset::BitSet;

/// In which order constraints that wait are evaluated. The greatest solution is the same in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Schedule {
    /// By their numbers, in sweeps: the next one is the smallest behind the last one, and behind the last the
    /// smallest of all. With numbers in reverse post-order a loop's body is evaluated to its end before its header
    /// comes again.
    #[default]
    Sweeps,
    /// First in, first out.
    Fifo,
    /// Last in, first out.
    Lifo,
}

/// Constraints that wait to be evaluated.
#[derive(Clone, Debug)]
pub struct Engine {
    waiting: Waiting,
    steps: usize,
}

#[derive(Clone, Debug)]
enum Waiting {
    Sweeps { set: SuccessorSet, at: usize },
    Queue { queue: VecDeque<u32>, inside: BitSet, last_first: bool },
}

impl Engine {
    /// For constraints 0 to `constraints`, none of which waits. Linear in what is numbered.
    pub fn new(constraints: usize, schedule: Schedule) -> Engine {
        let queue = |last_first| Waiting::Queue {
            queue: VecDeque::new(),
            inside: BitSet::new(constraints),
            last_first,
        };
        let waiting = match schedule {
            Schedule::Sweeps => Waiting::Sweeps { set: SuccessorSet::new(constraints), at: 0 },
            Schedule::Fifo => queue(false),
            Schedule::Lifo => queue(true),
        };
        Engine { waiting, steps: 0 }
    }

    /// Has the constraint evaluated, some time from now. No effect if it waits already. O(1).
    #[inline]
    pub fn enqueue(&mut self, constraint: u32) {
        match &mut self.waiting {
            Waiting::Sweeps { set, .. } => set.insert(constraint as usize),
            Waiting::Queue { queue, inside, .. } => {
                if inside.insert(constraint as usize) {
                    queue.push_back(constraint);
                }
            }
        }
    }

    /// How many constraints have been handed out. O(1).
    pub fn steps(&self) -> usize {
        self.steps
    }
}

impl Iterator for Engine {
    type Item = u32;

    /// The constraint to evaluate now; it waits no more. `None` if none does, which may change with the next
    /// [`enqueue`](Engine::enqueue).
    fn next(&mut self) -> Option<u32> {
        let next = match &mut self.waiting {
            Waiting::Sweeps { set, at } => {
                let next = set.at_or_behind(*at).or_else(|| set.at_or_behind(0))?;
                set.remove(next);
                *at = next + 1;
                next as u32
            }
            Waiting::Queue { queue, inside, last_first } => {
                let next = if *last_first { queue.pop_back() } else { queue.pop_front() }?;
                inside.remove(next as usize);
                next
            }
        };
        self.steps += 1;
        Some(next)
    }
}

/// A set of numbers below a bound that finds the next member in time logarithmic in the bound: each level has a bit
/// for each word of the one below that is not zero.
#[derive(Clone, Debug)]
struct SuccessorSet {
    levels: Vec<Vec<u64>>,
}

impl SuccessorSet {
    fn new(bound: usize) -> SuccessorSet {
        let mut levels = Vec::new();
        let mut words = bound.div_ceil(64).max(1);
        levels.push(vec![0; words]);
        while words > 1 {
            words = words.div_ceil(64);
            levels.push(vec![0; words]);
        }
        SuccessorSet { levels }
    }

    #[inline]
    fn insert(&mut self, mut index: usize) {
        for level in &mut self.levels {
            let word = &mut level[index / 64];
            let above_is_set = *word != 0;
            *word |= 1 << (index % 64);
            if above_is_set {
                return;
            }
            index /= 64;
        }
    }

    #[inline]
    fn remove(&mut self, mut index: usize) {
        for level in &mut self.levels {
            let word = &mut level[index / 64];
            *word &= !(1 << (index % 64));
            if *word != 0 {
                return;
            }
            index /= 64;
        }
    }

    /// The smallest member that is not below `from`.
    fn at_or_behind(&self, mut from: usize) -> Option<usize> {
        for (height, level) in self.levels.iter().enumerate() {
            let word = *level.get(from / 64)? & (!0 << (from % 64));
            if word == 0 {
                from = from / 64 + 1;
                continue;
            }
            let mut at = from / 64 * 64 + word.trailing_zeros() as usize;
            for level in self.levels[..height].iter().rev() {
                at = at * 64 + level[at].trailing_zeros() as usize;
            }
            return Some(at);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_are_those_of_an_ordered_set() {
        let mut state = 12345u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for bound in [1, 64, 65, 4096, 4097, 300_000] {
            let mut set = SuccessorSet::new(bound);
            let mut reference = alloc::collections::BTreeSet::new();
            for _ in 0..5000 {
                let at = draw(bound);
                match draw(3) {
                    0 => {
                        set.insert(at);
                        reference.insert(at);
                    }
                    1 => {
                        let taken = reference.range(at..).next().copied();
                        if let Some(taken) = taken {
                            set.remove(taken);
                            reference.remove(&taken);
                        }
                    }
                    _ => assert_eq!(set.at_or_behind(at), reference.range(at..).next().copied()),
                }
            }
            assert_eq!(set.at_or_behind(bound), None);
        }
    }

    #[test]
    fn sweeps_go_on_behind_the_last_constraint_and_start_again() {
        let mut engine = Engine::new(200, Schedule::Sweeps);
        [150, 3, 7].into_iter().for_each(|c| engine.enqueue(c));
        assert_eq!(engine.next(), Some(3));
        assert_eq!(engine.next(), Some(7));
        engine.enqueue(5);
        engine.enqueue(100);
        engine.enqueue(100);
        assert_eq!(engine.by_ref().collect::<Vec<_>>(), [100, 150, 5]);
        assert_eq!(engine.steps(), 5);
    }

    #[test]
    fn queues_hold_each_constraint_once_and_keep_their_order() {
        let order = |schedule| {
            let mut engine = Engine::new(10, schedule);
            [4, 2, 4, 9].into_iter().for_each(|c| engine.enqueue(c));
            engine.collect::<Vec<_>>()
        };
        assert_eq!(order(Schedule::Fifo), [4, 2, 9]);
        assert_eq!(order(Schedule::Lifo), [9, 2, 4]);
    }
}
