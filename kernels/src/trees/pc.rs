//! Point correlation, with many positions or many radii.

use super::{
    kd::Tree,
    points::{Point, clustered, queries, sort_along_curve, uniform},
};
use crate::{
    Argument::{Array, Each, Float},
    Inputs, Kernel, Random, Size,
    Values::{F32, I32},
};

/// How many points lie within one radius of each of many positions.
pub const PC: Kernel = Kernel {
    name: "pc",
    about: "points within a radius of each position",
    file: "pc.rs",
    source: include_str!("../../pc.rs"),
    c: include_str!("../../pc.c"),
    by_hand: None,
    function: "pc",
    args: Some("_i=index, x=varying, y=varying"),
    data: &["random", "sorted", "clustered"],
    make: many_positions,
};

/// How many points lie within each of many radii of one position.
pub const MPC: Kernel = Kernel {
    name: "mpc",
    about: "points within each radius of a position",
    by_hand: Some(include_str!("../../mpc_by_hand.c")),
    args: Some("_i=index, radius=varying"),
    data: &["random", "sorted", "clustered"],
    make: many_radii,
    ..PC
};

/// The radius of the paper.
const RADIUS: f64 = 50.0;

/// Points spread evenly (`random`, and `sorted`: positions along a curve) or `clustered`.
fn points(random: &mut Random, data: usize, size: Size) -> Vec<Point> {
    let count = size.pick(1_000, 50_000, 1_000_000);
    if data == 2 { clustered(random, count) } else { uniform(random, count) }
}

fn many_positions(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let points = points(&mut random, data, size);
    let mut positions = queries(&mut random, &points, size.pick(300, 512, 1024));
    if data == 1 {
        sort_along_curve(&mut positions);
    }
    let coordinate = |axis: usize| Each(F32(positions.iter().map(|position| position[axis]).collect()));
    inputs(positions.len(), [coordinate(0), coordinate(1), Float(RADIUS)], Tree::new(points))
}

/// The radii are spread evenly between half the paper's radius and one and a half of it; `sorted`, they ascend.
fn many_radii(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let points = points(&mut random, data, size);
    let [x, y] = queries(&mut random, &points, 1)[0].map(f64::from);
    let count = size.pick(300, 512, 1024);
    let mut radii: Vec<f32> = (0..count).map(|_| random.between(0.5 * RADIUS, 1.5 * RADIUS) as f32).collect();
    if data == 1 {
        radii.sort_by(f32::total_cmp);
    }
    inputs(count, [Float(x), Float(y), Each(F32(radii))], Tree::new(points))
}

/// `query` is x, y and radius.
fn inputs(count: usize, query: [crate::Argument; 3], tree: Tree) -> Inputs {
    let tree = [Array(F32(tree.boxes)), Array(F32(tree.points)), Array(I32(tree.children))];
    Inputs { range: (0, count as i64), arguments: query.into_iter().chain(tree).collect() }
}
