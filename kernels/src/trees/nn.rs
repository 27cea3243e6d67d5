//! Nearest neighbours in a kd-tree: of positions among many points, and of many points among a few centroids.

use super::{
    buckets::Tree,
    points::{self, Point, clustered, sort_along_curve, uniform},
};
use crate::{
    Argument::{Array, Each, Int},
    Inputs, Kernel, Random, Size,
    Values::F32,
};

/// The nearest of many points.
pub const NN: Kernel = Kernel {
    name: "nn",
    about: "nearest neighbour in a kd-tree",
    file: "nn.rs",
    source: include_str!("../../nn.rs"),
    c: include_str!("../../nn.c"),
    by_hand: None,
    function: "nn",
    args: Some("_i=index, x=varying, y=varying"),
    data: &["random", "sorted", "clustered"],
    make: neighbours,
};

/// The nearest of a few centroids.
pub const KM: Kernel = Kernel {
    name: "km",
    about: "assignment of points to clusters (k-means)",
    file: "km.rs",
    source: include_str!("../../km.rs"),
    c: include_str!("../../km.c"),
    by_hand: None,
    function: "km",
    make: clusters,
    ..NN
};

/// The paper's K.
const CENTROIDS: usize = 128;

fn neighbours(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let count = size.pick(1_000, 100_000, 1_000_000);
    let points = if data == 2 { clustered(&mut random, count) } else { uniform(&mut random, count) };
    let positions = points::queries(&mut random, &points, size.pick(500, 250_000, 1_000_000));
    inputs(positions, data == 1, points)
}

/// The centroids are random points of the data set, as before the first step of the algorithm.
fn clusters(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let count = size.pick(1_000, 700_000, 1_000_000);
    let points = if data == 2 { clustered(&mut random, count) } else { uniform(&mut random, count) };
    let centroids = (0..CENTROIDS).map(|_| points[random.below(count as u64) as usize]).collect();
    inputs(points, data == 1, centroids)
}

/// Searches for each position's neighbour in a tree of the points; the positions are put in order if they are to be
/// `sorted`.
fn inputs(mut positions: Vec<Point>, sorted: bool, points: Vec<Point>) -> Inputs {
    if sorted {
        sort_along_curve(&mut positions);
    }
    let coordinate = |axis: usize| Each(F32(positions.iter().map(|position| position[axis]).collect()));
    let tree = Tree::new(points);
    Inputs {
        range: (0, positions.len() as i64),
        arguments: vec![
            coordinate(0),
            coordinate(1),
            Int(tree.depth as i64),
            Array(F32(tree.cuts)),
            Array(F32(tree.boxes)),
            Array(F32(tree.points)),
        ],
    }
}
