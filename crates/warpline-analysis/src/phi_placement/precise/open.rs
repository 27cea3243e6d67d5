//! A small map from pre-order numbers to marks.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// How many pairs are kept in a list.
const FEW: usize = 32;

/// Marks by the pre-order numbers of their nodes. Almost always there are a few; where there are many, they are sorted.
#[derive(Default)]
pub(super) struct Open {
    few: Vec<(u32, u32)>,
    many: BTreeMap<u32, u32>,
}

impl Open {
    pub(super) fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// Adds a mark; none may be there with the same number.
    pub(super) fn insert(&mut self, number: u32, mark: u32) {
        if self.few.len() < FEW {
            self.few.push((number, mark));
        } else {
            self.many.insert(number, mark);
        }
    }

    /// Takes out one of the marks with numbers from `first` to `last`.
    pub(super) fn take(&mut self, first: u32, last: u32) -> Option<u32> {
        if let Some(k) = self.few.iter().position(|&(number, _)| first <= number && number <= last) {
            return Some(self.few.swap_remove(k).1);
        }
        if self.many.is_empty() || first > last {
            return None;
        }
        let number = *self.many.range(first..=last).next()?.0;
        self.many.remove(&number)
    }

    /// All marks.
    pub(super) fn marks(&self) -> impl Iterator<Item = u32> + '_ {
        self.few.iter().map(|&(_, mark)| mark).chain(self.many.values().copied())
    }
}
