//! Nearest neighbours in a tree that needs distances only.

use super::points::{Point, bounds, clustered, queries, sort_along_curve, uniform};
use crate::{
    Argument::{Array, Each},
    Inputs, Kernel, Random, Size,
    Values::{F32, I32},
};

/// The nearest of many points.
pub const VP: Kernel = Kernel {
    name: "vp",
    about: "nearest neighbour in a vantage-point tree",
    file: "vp.rs",
    source: include_str!("../../vp.rs"),
    c: include_str!("../../vp.c"),
    function: "vp",
    args: Some("_i=index, x=varying, y=varying"),
    data: &["random", "sorted", "clustered"],
    make,
};

fn make(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let count = size.pick(1_000, 100_000, 1_000_000);
    let points = if data == 2 { clustered(&mut random, count) } else { uniform(&mut random, count) };
    let mut positions = queries(&mut random, &points, size.pick(500, 50_000, 1_000_000));
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
            Array(F32(tree.points)),
            Array(F32(tree.rings)),
            Array(I32(tree.children)),
        ],
    }
}

/// A tree with a point at each node, and below it the other points by their distance from it: half of them on the inside, half of them on the
/// outside. Nodes are in preorder; the root is node 0.
struct Tree {
    random: Random,
    /// By how much rings are wider than what is in them, so that no rounding of distances leaves anything out.
    slack: f64,
    /// Each node's x and y.
    points: Vec<f32>,
    /// The least and greatest distance of the points inside, and of those outside.
    rings: Vec<f32>,
    /// Each node's two children, or 0 for none.
    children: Vec<i32>,
}

impl Tree {
    /// A tree of the points, of which there must be one. Which of them are where others would do is random.
    fn new(random: Random, mut points: Vec<Point>) -> Tree {
        let (lo, hi) = bounds(&points);
        let slack = distance(&lo, &hi) * 1e-6;
        let mut tree = Tree { random, slack, points: Vec::new(), rings: Vec::new(), children: Vec::new() };
        tree.add(&mut points);
        tree
    }

    /// Adds the tree of these points, and returns its root, or 0 if there are none.
    fn add(&mut self, points: &mut [Point]) -> i32 {
        if points.is_empty() {
            return 0;
        }
        points.swap(0, self.random.below(points.len() as u64) as usize);
        let (vantage, others) = points.split_at_mut(1);
        let vantage = vantage[0];
        let (inside, outside) = halves(vantage, others);
        let node = self.children.len() / 2;
        self.points.extend(vantage);
        self.rings.extend(self.ring(vantage, inside));
        self.rings.extend(self.ring(vantage, outside));
        self.children.extend([0, 0]);
        self.children[2 * node] = self.add(inside);
        self.children[2 * node + 1] = self.add(outside);
        node as i32
    }

    /// The least and the greatest distance of points; nothing is between them if there are no points.
    fn ring(&self, from: Point, points: &[Point]) -> [f32; 2] {
        let distances = || points.iter().map(|point| distance(&from, point));
        let least = distances().fold(f64::INFINITY, f64::min) - self.slack;
        let greatest = distances().fold(f64::NEG_INFINITY, f64::max) + self.slack;
        [least as f32, greatest as f32]
    }
}

/// The half of the points that are nearer, one more if their number is odd, and the half that are farther.
fn halves(from: Point, points: &mut [Point]) -> (&mut [Point], &mut [Point]) {
    let half = points.len().div_ceil(2);
    if half < points.len() {
        points.select_nth_unstable_by(half, |a, b| distance(&from, a).total_cmp(&distance(&from, b)));
    }
    points.split_at_mut(half)
}

fn distance(a: &Point, b: &Point) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
}
