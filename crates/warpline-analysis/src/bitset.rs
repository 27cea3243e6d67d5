//! A set of small numbers.

use alloc::vec::Vec;

/// A set of numbers below a fixed bound, one bit each.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct BitSet {
    words: Vec<u64>,
    bound: usize,
}

impl BitSet {
    /// The empty set of numbers below `bound`. Takes time linear in its bound.
    pub fn new(bound: usize) -> Self {
        BitSet { words: vec![0; bound.div_ceil(64)], bound }
    }

    /// All members are below this. O(1).
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// Whether `index` is a member; numbers beyond the bound are not. O(1).
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|w| w >> (index % 64) & 1 != 0)
    }

    /// Adds `index`; says whether it is new. Panics if it is not below the bound. O(1).
    #[inline]
    pub fn insert(&mut self, index: usize) -> bool {
        assert!(index < self.bound, "{index} is not below the set's bound {}", self.bound);
        let word = &mut self.words[index / 64];
        let new = *word >> (index % 64) & 1 == 0;
        *word |= 1 << (index % 64);
        new
    }

    /// Removes `index`; says whether it was a member. O(1).
    #[inline]
    pub fn remove(&mut self, index: usize) -> bool {
        let had = self.contains(index);
        if had {
            self.words[index / 64] &= !(1 << (index % 64));
        }
        had
    }

    /// Becomes the empty set of numbers below another bound, in the same memory.
    pub(crate) fn reset(&mut self, bound: usize) {
        self.words.clear();
        self.words.resize(bound.div_ceil(64), 0);
        self.bound = bound;
    }

    /// Makes room for numbers below a greater bound.
    pub(crate) fn grow(&mut self, bound: usize) {
        if bound > self.bound {
            self.words.resize(bound.div_ceil(64), 0);
            self.bound = bound;
        }
    }

    /// Removes every member. Linear in the bound, 64 elements at a time.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Adds the members of `other`, which has the same bound; says whether anything is new.
    /// Linear in the bound, 64 elements at a time.
    pub fn union_with(&mut self, other: &BitSet) -> bool {
        assert_eq!(self.bound, other.bound, "sets of different bounds");
        self.union_with_shorter(other)
    }

    /// The same for a set with a bound that is not greater.
    pub(crate) fn union_with_shorter(&mut self, other: &BitSet) -> bool {
        let mut changed = false;
        for (w, &o) in self.words.iter_mut().zip(&other.words) {
            changed |= o & !*w != 0;
            *w |= o;
        }
        changed
    }

    /// Keeps only the members of `other`, which has the same bound; says whether anything is gone.
    /// Linear in the bound, 64 elements at a time.
    pub fn intersect_with(&mut self, other: &BitSet) -> bool {
        assert_eq!(self.bound, other.bound, "sets of different bounds");
        self.intersect_with_any(other)
    }

    /// The same for a set with any bound.
    pub(crate) fn intersect_with_any(&mut self, other: &BitSet) -> bool {
        let mut changed = false;
        for (w, o) in self.words.iter_mut().zip(other.words.iter().copied().chain(core::iter::repeat(0))) {
            changed |= *w & !o != 0;
            *w &= o;
        }
        changed
    }

    /// Removes the members of `other`, which has the same bound; says whether anything is gone.
    /// Linear in the bound, 64 elements at a time.
    pub fn subtract(&mut self, other: &BitSet) -> bool {
        assert_eq!(self.bound, other.bound, "sets of different bounds");
        let mut changed = false;
        for (w, &o) in self.words.iter_mut().zip(&other.words) {
            changed |= *w & o != 0;
            *w &= !o;
        }
        changed
    }

    /// Whether every member is one of `other`'s. Linear in the bound, 64 elements at a time.
    pub fn is_subset(&self, other: &BitSet) -> bool {
        let beyond = self.words.iter().skip(other.words.len());
        self.words.iter().zip(&other.words).all(|(w, o)| w & !o == 0) && beyond.into_iter().all(|&w| w == 0)
    }

    /// The number of members. Linear in the bound, 64 elements at a time.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether there is no member. Linear in the bound, 64 elements at a time.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// For asking which member of the set a number is. Linear in the bound, 64 elements at a time.
    pub(crate) fn ranks(&self) -> Ranks<'_> {
        let mut total = 0;
        let counts = self.words.iter().map(|word| {
            let before = total;
            total += word.count_ones();
            before
        });
        Ranks { words: &self.words, before: counts.collect() }
    }

    /// The members in increasing order. All of it is linear in the bound and the elements.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            core::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| i * 64 + w.trailing_zeros() as usize)
        })
    }
}

/// The places of the members of a set among all of them.
pub(crate) struct Ranks<'a> {
    words: &'a [u64],
    /// By word: how many members come before.
    before: Vec<u32>,
}

impl Ranks<'_> {
    /// How many members are less than a number.
    #[inline]
    pub(crate) fn of(&self, index: usize) -> usize {
        let less = self.words[index / 64] & ((1 << (index % 64)) - 1);
        (self.before[index / 64] + less.count_ones()) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back_in_order_and_bounds_hold() {
        let mut s = BitSet::new(130);
        for i in [129, 0, 64, 63, 5] {
            assert!(s.insert(i));
            assert!(!s.insert(i));
        }
        assert_eq!(s.iter().collect::<Vec<_>>(), [0, 5, 63, 64, 129]);
        assert_eq!(s.count(), 5);
        assert!(!s.contains(1000));
        let ranks = s.ranks();
        assert_eq!([0, 5, 63, 64, 129].map(|i| ranks.of(i)), [0, 1, 2, 3, 4]);
        assert!(s.remove(64) && !s.remove(64));
        let mut t = BitSet::new(130);
        assert!(t.union_with(&s) && !t.union_with(&s));
        assert!(t.is_subset(&s));
        t.insert(1);
        assert!(!t.is_subset(&s));
        assert!(t.intersect_with(&s));
        assert_eq!(t, s);
        assert!(t.subtract(&s) && t.is_empty());
    }
}
