//! Search in a binary tree: lanes together, or each on its own.

use crate::{
    Argument::{Array, Each},
    Inputs, Kernel, Random, Size,
    Values::{F32, I32},
};
use std::collections::HashSet;

/// Lanes search together.
pub const BT: Kernel = Kernel {
    name: "bt",
    about: "search in a binary tree, lanes together",
    file: "bt.rs",
    source: include_str!("../../bt.rs"),
    c: include_str!("../../bt.c"),
    by_hand: None,
    function: "bt",
    args: Some("_i=index, element=varying"),
    data: &["random", "unsorted"],
    make,
};

/// Each lane searches on its own.
pub const BT_GATHER: Kernel = Kernel {
    name: "bt_gather",
    about: "search in a binary tree, each lane on its own",
    file: "bt_gather.rs",
    source: include_str!("../../bt_gather.rs"),
    c: include_str!("../../bt_gather.c"),
    by_hand: None,
    function: "bt_gather",
    ..BT
};

/// How many elements are searched at a time, in ascending order.
const SAMPLES: usize = 4096;
/// What the stack of the kernel has room for.
const DEEPEST: usize = 127;

/// Elements to search, half of them random elements of the tree and half random numbers, in batches that are each
/// `SAMPLES` elements in ascending order. `unsorted`, they are in the order in which they were drawn.
fn make(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let labels = distinct(&mut random, size.pick(4096, 262_144, 262_144));
    let mut elements = Vec::new();
    for _ in 0..size.pick(1, 24, 1) {
        let mut batch: Vec<f32> = (0..SAMPLES)
            .map(|_| match random.below(2) {
                0 => labels[random.below(labels.len() as u64) as usize],
                _ => random.unit() as f32,
            })
            .collect();
        if data == 0 {
            batch.sort_unstable_by(f32::total_cmp);
        }
        elements.append(&mut batch);
    }
    let range = (0, elements.len() as i64);
    let children = tree(&labels);
    Inputs { range, arguments: vec![Each(F32(elements)), Array(F32(labels)), Array(I32(children))] }
}

/// So many different numbers in 0..1, in random order.
fn distinct(random: &mut Random, count: usize) -> Vec<f32> {
    let mut seen = HashSet::new();
    std::iter::repeat_with(|| random.unit() as f32).filter(|x| seen.insert(x.to_bits())).take(count).collect()
}

/// The search tree that comes about when each label is put where a search for it ends, in their order: both children
/// of each node, or 0 for none.
///
/// # Panics
/// If it becomes deeper than the kernel's stack is.
fn tree(labels: &[f32]) -> Vec<i32> {
    let mut children = vec![0; 2 * labels.len()];
    for new in 1..labels.len() {
        let (mut node, mut depth) = (0, 0);
        loop {
            depth += 1;
            assert!(depth < DEEPEST, "the order of the labels is not random");
            let child = &mut children[2 * node + usize::from(labels[node] < labels[new])];
            if *child == 0 {
                *child = new as i32;
                break;
            }
            node = *child as usize;
        }
    }
    children
}
