//! Nearest neighbours in a tree that needs distances only.

use super::{
    buckets::{BUCKET, bucket, depth},
    points::{Point, bounds, clustered, queries, sort_along_curve, uniform},
};
use crate::{
    Argument::{Array, Each, Int},
    Inputs, Kernel, Random, Size,
    Values::F32,
};

/// The nearest of many points.
pub const VP: Kernel = Kernel {
    name: "vp",
    about: "nearest neighbour in a vantage-point tree",
    file: "vp.rs",
    source: include_str!("../../vp.rs"),
    c: include_str!("../../vp.c"),
    by_hand: None,
    function: "vp",
    args: Some("_i=index, x=varying, y=varying"),
    data: &["random", "sorted", "clustered"],
    make,
};

fn make(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let count = size.pick(1_000, 100_000, 1_000_000);
    let points = if data == 2 { clustered(&mut random, count) } else { uniform(&mut random, count) };
    let mut positions = queries(&mut random, &points, size.pick(500, 120_000, 1_000_000));
    if data == 1 {
        sort_along_curve(&mut positions);
    }
    let coordinate = |axis: usize| Each(F32(positions.iter().map(|position| position[axis]).collect()));
    let tree = Tree::new(random, points);
    Inputs {
        range: (0, positions.len() as i64),
        arguments: vec![
            coordinate(0),
            coordinate(1),
            Int(tree.depth as i64),
            Array(F32(tree.nodes)),
            Array(F32(tree.points)),
        ],
    }
}

/// A complete tree with a vantage point at each node, and below it all points by their distance from it: half of them
/// on the inside, half of them on the outside, and in the end in buckets. The root is node 1, and the children of
/// node *k* are 2*k* and 2*k* + 1.
struct Tree {
    random: Random,
    /// By how much rings are wider than what is in them, so that no rounding of distances leaves anything out.
    slack: f64,
    /// How many nodes are above each bucket.
    depth: usize,
    /// Each node's x and y, the greatest distance of the points inside, and the least of those outside.
    nodes: Vec<f32>,
    /// x and y of each bucket's points. Where there are fewer, the last one is repeated.
    points: Vec<f32>,
}

impl Tree {
    /// A tree of the points, of which there must be one. Which of them are where others would do is random.
    fn new(random: Random, mut points: Vec<Point>) -> Tree {
        let (lo, hi) = bounds(&points);
        let slack = distance(&lo, &hi) * 1e-6;
        let depth = depth(points.len());
        let buckets = 1 << depth;
        let nodes = vec![0.0; 4 * buckets];
        let mut tree = Tree { random, slack, depth, nodes, points: Vec::with_capacity(2 * BUCKET * buckets) };
        tree.add(1, buckets, &mut points);
        tree
    }

    /// Adds these points as the node, with so many buckets below it. Buckets are added from the inside to the outside.
    fn add(&mut self, node: usize, buckets: usize, points: &mut [Point]) {
        if buckets == 1 {
            self.points.extend(bucket(points).as_flattened());
            return;
        }
        let vantage = points[self.random.below(points.len() as u64) as usize];
        let half = points.len() / 2;
        points.select_nth_unstable_by(half, |a, b| distance(&vantage, a).total_cmp(&distance(&vantage, b)));
        let (inside, outside) = points.split_at_mut(half);
        let inner = inside.iter().map(|point| distance(&vantage, point)).fold(f64::NEG_INFINITY, f64::max);
        let outer = outside.iter().map(|point| distance(&vantage, point)).fold(f64::INFINITY, f64::min);
        let rings = [(inner + self.slack) as f32, (outer - self.slack) as f32];
        self.nodes[4 * node..][..4].copy_from_slice(&[vantage[0], vantage[1], rings[0], rings[1]]);
        self.add(2 * node, buckets / 2, inside);
        self.add(2 * node + 1, buckets / 2, outside);
    }
}

fn distance(a: &Point, b: &Point) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
}
