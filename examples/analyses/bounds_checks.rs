//! Safe code with checks, for `warpline lint --client bounds`: some can never fail, some may. See docs/bounds-checks.md.

/// Where `key` is in a sorted slice.
#[unsafe(no_mangle)]
pub fn binary_search(sorted: &[u32], key: u32) -> Option<usize> {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if sorted[middle] == key {
            return Some(middle);
        }
        if sorted[middle] < key { low = middle + 1 } else { high = middle }
    }
    None
}

/// Reverses a slice in place.
#[unsafe(no_mangle)]
pub fn reverse(items: &mut [u16]) {
    let len = items.len();
    for i in 0..len / 2 {
        let other = items[len - 1 - i];
        items[len - 1 - i] = items[i];
        items[i] = other;
    }
}

/// Sorts a slice by insertion.
#[unsafe(no_mangle)]
pub fn insertion_sort(items: &mut [i64]) {
    for next in 1..items.len() {
        let item = items[next];
        let mut hole = next;
        while hole > 0 && items[hole - 1] > item {
            items[hole] = items[hole - 1];
            hole -= 1;
        }
        items[hole] = item;
    }
}

/// How often each byte occurs.
#[unsafe(no_mangle)]
pub fn histogram(bytes: &[u8], counts: &mut [u32; 256]) {
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
}

/// A queue in an array whose length is a power of two.
pub struct Ring {
    slots: [u32; 64],
    first: usize,
    len: usize,
}

/// Appends a value; false if the queue is full.
#[unsafe(no_mangle)]
pub fn ring_push(ring: &mut Ring, value: u32) -> bool {
    if ring.len == ring.slots.len() {
        return false;
    }
    ring.slots[(ring.first + ring.len) % 64] = value;
    ring.len += 1;
    true
}

/// Takes the oldest value out.
#[unsafe(no_mangle)]
pub fn ring_pop(ring: &mut Ring) -> Option<u32> {
    if ring.len == 0 {
        return None;
    }
    let value = ring.slots[ring.first];
    ring.first = (ring.first + 1) % 64;
    ring.len -= 1;
    Some(value)
}

/// `y = A x` for a matrix that is stored row by row.
#[unsafe(no_mangle)]
pub fn matrix_times_vector(a: &[f32], x: &[f32], y: &mut [f32]) {
    let columns = x.len();
    for row in 0..y.len() {
        let mut sum = 0.0;
        for column in 0..columns {
            sum += a[row * columns + column] * x[column];
        }
        y[row] = sum;
    }
}

/// The sums of all prefixes; `sums` must be as long as `items`.
#[unsafe(no_mangle)]
pub fn prefix_sums(items: &[u32], sums: &mut [u64]) {
    assert_eq!(items.len(), sums.len());
    let mut sum = 0;
    for i in 0..items.len() {
        sum += u64::from(items[i]);
        sums[i] = sum;
    }
}

/// The greatest common divisor.
#[unsafe(no_mangle)]
pub fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
