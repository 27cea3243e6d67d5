//! The most recent results of costly work.

use std::collections::VecDeque;

/// A few results by what they were made of, the most recent first.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    most: usize,
    kept: VecDeque<(K, V)>,
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    /// Nothing yet, and never more than so many.
    pub(crate) const fn new(most: usize) -> Self {
        Self { most, kept: VecDeque::new() }
    }

    /// The result for a key, if it is kept.
    pub(crate) fn find(&self, key: &K) -> Option<V> {
        self.kept.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }

    /// Keeps a result, and forgets the oldest if there are too many.
    pub(crate) fn keep(&mut self, key: K, value: V) {
        self.kept.truncate(self.most.saturating_sub(1));
        self.kept.push_front((key, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_recent_results_are_kept() {
        let mut recent = Recent::new(2);
        (1..=3).for_each(|key| recent.keep(key, key * 10));
        assert_eq!([1, 2, 3].map(|key| recent.find(&key)), [None, Some(20), Some(30)]);
    }
}
