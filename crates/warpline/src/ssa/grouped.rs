//! Lists by number in one array.

/// Lists of `T`, one for each of `0..len`, in one array.
pub(super) struct Grouped<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Grouped<T> {
    /// Groups `(list, item)` pairs; a list keeps the order of its items.
    pub(super) fn new(len: usize, pairs: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0u32; len + 1];
        for (list, _) in pairs.clone() {
            starts[list + 1] += 1;
        }
        for i in 0..len {
            starts[i + 1] += starts[i];
        }
        let Some((_, any)) = pairs.clone().next() else { return Grouped { starts, items: Vec::new() } };
        let mut next = starts.clone();
        let mut items = vec![any; starts[len] as usize];
        for (list, item) in pairs {
            items[next[list] as usize] = item;
            next[list] += 1;
        }
        Grouped { starts, items }
    }

    /// Where a list stands in the array of all.
    pub(super) fn range(&self, list: usize) -> std::ops::Range<usize> {
        self.starts[list] as usize..self.starts[list + 1] as usize
    }

    /// One list.
    pub(super) fn get(&self, list: usize) -> &[T] {
        &self.items[self.range(list)]
    }

    /// The length of the array of all.
    pub(super) fn item_count(&self) -> usize {
        self.items.len()
    }

    /// An item by its place in the array of all.
    pub(super) fn item(&self, at: usize) -> T {
        self.items[at]
    }
}
