//! A sorted array and what is looked for in it.

use crate::{Argument, Inputs, Kernel, Random, Size, Values};

/// Binary search.
pub const KERNEL: Kernel = Kernel {
    name: "xs",
    about: "binary search in a sorted array: a divergent loop with a gather",
    file: "xs.rs",
    source: include_str!("../../xs.rs"),
    c: include_str!("../../xs.c"),
    by_hand: None,
    function: "xs",
    args: Some("_i=index, query=varying"),
    data: &["random"],
    make,
};

/// Random elements and random queries of the same range, both sorted. As large as the paper has them, they are 2^22
/// and 2^20.
fn make(_data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let mut sorted = |count: usize| {
        let mut numbers: Vec<f64> = (0..count).map(|_| random.unit()).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        numbers
    };
    let elements = sorted(size.pick(1 << 14, 1 << 20, 1 << 22));
    let queries = sorted(size.pick(1 << 14, 1 << 19, 1 << 20));
    let count = elements.len() as i64;
    Inputs {
        range: (0, queries.len() as i64),
        arguments: vec![
            Argument::Each(Values::F64(queries)),
            Argument::Array(Values::F64(elements)),
            Argument::Int(count),
        ],
    }
}
