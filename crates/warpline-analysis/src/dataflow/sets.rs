//! Sets as facts, of any size and of sizes that are known at run time only.

use core::fmt;

use super::Lattice;
use crate::bitset::BitSet;

/// What may hold: the union of what may hold on each path. Nothing is possible at first.
///
/// ```
/// use warpline_analysis::dataflow::{AnyOf, Lattice};
///
/// let mut reaching = AnyOf::top();
/// assert!(reaching.meet(&AnyOf::from_iter([3, 700])));
/// assert!(reaching.meet(&AnyOf::from_iter([5])) && !reaching.meet(&AnyOf::from_iter([3])));
/// assert_eq!(reaching, AnyOf::from_iter([3, 5, 700]));
/// ```
#[derive(Clone, Default)]
pub struct AnyOf(BitSet);

/// What must hold: the intersection of what holds on each path. Everything holds at first.
///
/// ```
/// use warpline_analysis::dataflow::{AllOf, Lattice};
///
/// let mut available = AllOf::top();
/// assert!(available.contains(1 << 40)); // of whatever number
/// assert!(available.meet(&AllOf::from_iter([3, 5, 700])));
/// assert!(available.meet(&AllOf::from_iter([5, 9])));
/// assert_eq!(available, AllOf::from_iter([5]));
/// ```
#[derive(Clone, Default)]
pub struct AllOf(Option<BitSet>);

impl AnyOf {
    /// Whether `number` may hold. O(1).
    pub fn contains(&self, number: usize) -> bool {
        self.0.contains(number)
    }

    /// Adds a number. O(1), but for growing to it.
    pub fn insert(&mut self, number: usize) {
        self.0.grow(number + 1);
        self.0.insert(number);
    }

    /// Takes a number out. O(1).
    pub fn remove(&mut self, number: usize) {
        self.0.remove(number);
    }

    /// The numbers, in order. Linear in the largest number, 64 at a time.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter()
    }
}

impl AllOf {
    /// Whether `number` must hold. O(1).
    pub fn contains(&self, number: usize) -> bool {
        self.0.as_ref().is_none_or(|set| set.contains(number))
    }

    /// Adds a number. O(1), but for growing to it.
    pub fn insert(&mut self, number: usize) {
        if let Some(set) = &mut self.0 {
            set.grow(number + 1);
            set.insert(number);
        }
    }

    /// Takes a number out; nothing if everything holds, since there are no bounds to it. O(1).
    pub fn remove(&mut self, number: usize) {
        if let Some(set) = &mut self.0 {
            set.remove(number);
        }
    }

    /// The numbers, in order; none if everything holds. Linear in the largest number, 64 at a time.
    pub fn iter(&self) -> Option<impl Iterator<Item = usize> + '_> {
        self.0.as_ref().map(BitSet::iter)
    }
}

impl Lattice for AnyOf {
    fn top() -> Self {
        AnyOf::default()
    }

    fn meet(&mut self, other: &Self) -> bool {
        self.0.grow(other.0.bound());
        self.0.union_with_shorter(&other.0)
    }
}

impl Lattice for AllOf {
    fn top() -> Self {
        AllOf(None)
    }

    fn meet(&mut self, other: &Self) -> bool {
        match (&mut self.0, &other.0) {
            (_, None) => false,
            (None, Some(_)) => {
                self.0.clone_from(&other.0);
                true
            }
            (Some(own), Some(other)) => own.intersect_with_any(other),
        }
    }
}

/// Sets are equal if their members are, whatever they have grown to.
fn same(a: &BitSet, b: &BitSet) -> bool {
    a.is_subset(b) && b.is_subset(a)
}

impl PartialEq for AnyOf {
    fn eq(&self, other: &Self) -> bool {
        same(&self.0, &other.0)
    }
}

impl Eq for AnyOf {}

impl PartialEq for AllOf {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

impl Eq for AllOf {}

impl FromIterator<usize> for AnyOf {
    fn from_iter<T: IntoIterator<Item = usize>>(numbers: T) -> Self {
        let mut set = AnyOf::default();
        numbers.into_iter().for_each(|n| set.insert(n));
        set
    }
}

impl FromIterator<usize> for AllOf {
    fn from_iter<T: IntoIterator<Item = usize>>(numbers: T) -> Self {
        AllOf(Some(AnyOf::from_iter(numbers).0))
    }
}

impl fmt::Debug for AnyOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl fmt::Debug for AllOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.iter() {
            Some(numbers) => f.debug_set().entries(numbers).finish(),
            None => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Numbers below 200 that the bits of `seed` choose.
    fn some(seed: u64) -> Vec<usize> {
        (0..200).filter(|n| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (n % 57)) & 7 == 0).collect()
    }

    fn laws<L: Lattice + fmt::Debug>(facts: &[L]) {
        let meet = |a: &L, b: &L| {
            let mut met = a.clone();
            let changed = met.meet(b);
            assert_eq!(changed, met != *a, "{a:?} {b:?}");
            met
        };
        for a in facts {
            assert!(meet(&L::top(), a) == *a && meet(a, &L::top()) == *a && meet(a, a) == *a);
            for b in facts {
                assert!(meet(a, b) == meet(b, a));
                facts.iter().for_each(|c| assert!(meet(&meet(a, b), c) == meet(a, &meet(b, c))));
            }
        }
    }

    #[test]
    fn sets_of_different_sizes_are_lattices() {
        let cut = |n: u64| some(n).into_iter().take(4 * n as usize).collect::<Vec<_>>();
        laws(&(0..12).map(|n| AnyOf::from_iter(cut(n))).collect::<Vec<_>>());
        let mut all: Vec<AllOf> = (0..12).map(|n| AllOf::from_iter(cut(n))).collect();
        all.push(AllOf::top());
        laws(&all);
    }
}
