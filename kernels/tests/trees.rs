//! The kernels on trees as scalar programs, against searches that look at every element.

use std::collections::BTreeMap;
use warpline_kernels::{
    Argument::{self, Array, Each, Float, Int},
    Inputs, Kernel, Size,
    Values::{self, F32, I32},
};

#[path = "../bh.rs"]
mod bh;
#[path = "../bt.rs"]
mod bt;
#[path = "../bt_gather.rs"]
mod bt_gather;
#[path = "../km.rs"]
mod km;
#[path = "../nn.rs"]
mod nn;
#[path = "../pc.rs"]
mod pc;
#[path = "../vp.rs"]
mod vp;

fn kernel(name: &str) -> &'static Kernel {
    warpline_kernels::all().find(|kernel| kernel.name == name).expect("a kernel of that name")
}

/// The data sets of a kernel at the size of tests, each under its name, and whether other seeds give other data.
fn data_sets(name: &str) -> BTreeMap<&'static str, Inputs> {
    let kernel = kernel(name);
    let make = |data, seed| (kernel.make)(data, Size::Small, seed);
    let sets: Vec<_> = kernel.data.iter().enumerate().map(|(data, name)| (*name, make(data, 1))).collect();
    for (data, (name, inputs)) in sets.iter().enumerate() {
        assert_eq!(make(data, 1), *inputs, "{name}: the same seed gives the same data");
        assert_ne!(make(data, 2), *inputs, "{name}: another seed gives other data");
    }
    sets.into_iter().collect()
}

fn floats(argument: &Argument) -> &[f32] {
    let (Array(F32(values)) | Each(F32(values))) = argument else {
        panic!("not an array of f32: {argument:?}")
    };
    values
}

fn ints(argument: &Argument) -> &[i32] {
    let (Array(I32(values)) | Each(I32(values))) = argument else {
        panic!("not an array of i32: {argument:?}")
    };
    values
}

/// What a parameter is for index `i`.
fn float(argument: &Argument, i: usize) -> f32 {
    match argument {
        Float(value) => *value as f32,
        Each(F32(values)) => values[i],
        _ => panic!("not a number: {argument:?}"),
    }
}

/// What the kernel returns for each index.
fn run<T>(inputs: &Inputs, mut kernel: impl FnMut(i32, usize) -> T) -> Vec<T> {
    let (begin, end) = inputs.range;
    (begin..end).map(|i| kernel(i as i32, (i - begin) as usize)).collect()
}

fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
}

/// How many points are within the radius, if it is changed by this factor.
fn within(points: &[f32], position: [f32; 2], radius: f32, factor: f64) -> i32 {
    let reach = (f64::from(radius) * factor).powi(2);
    points.chunks(2).filter(|point| squared_distance(point, &position) <= reach).count() as i32
}

/// Holds `pc` against all points. Those nearly on the circle may be counted or not.
fn point_correlation(name: &str) {
    for (data, inputs) in data_sets(name) {
        let [x, y, radius, boxes, points, children] = &inputs.arguments[..] else { panic!() };
        let (boxes, points, children) = (floats(boxes), floats(points), ints(children));
        let counts = run(&inputs, |i, at| {
            let (x, y, radius) = (float(x, at), float(y, at), float(radius, at));
            let count =
                unsafe { pc::pc(i, x, y, radius, boxes.as_ptr(), points.as_ptr(), children.as_ptr()) };
            let least = within(points, [x, y], radius, 1.0 - 1e-5);
            let most = within(points, [x, y], radius, 1.0 + 1e-5);
            assert!(
                (least..=most).contains(&count),
                "{data}: {count} points within {radius} of ({x}, {y}), not {least} to {most}"
            );
            count
        });
        assert!(
            counts.iter().any(|&count| count > 0 && count < points.len() as i32 / 2),
            "{data}: circles cut the points"
        );
    }
}

#[test]
fn pc_counts_the_points_that_a_search_of_all_counts() {
    point_correlation("pc");
}

#[test]
fn mpc_counts_the_points_that_a_search_of_all_counts() {
    point_correlation("mpc");
}

/// Holds a search in a tree against the list of all labels.
fn search(name: &str, function: unsafe extern "C" fn(i32, f32, *const f32, *const i32) -> i32) {
    for (data, inputs) in data_sets(name) {
        let [elements, labels, children] = &inputs.arguments[..] else { panic!() };
        let (labels, children) = (floats(labels), ints(children));
        let found = run(&inputs, |i, at| {
            let element = float(elements, at);
            let node = unsafe { function(i, element, labels.as_ptr(), children.as_ptr()) };
            let place = labels.iter().position(|label| *label == element);
            assert_eq!(node, place.map_or(-1, |place| place as i32), "{data}: {element}");
            node
        });
        let hits = found.iter().filter(|node| **node >= 0).count() as f64 / found.len() as f64;
        assert!((0.45..0.55).contains(&hits), "{data}: about half of the elements are in the tree");
    }
}

#[test]
fn bt_finds_the_elements_that_are_in_the_tree() {
    search("bt", bt::bt);
}

#[test]
fn bt_gather_finds_the_elements_that_are_in_the_tree() {
    search("bt_gather", bt_gather::bt_gather);
}

/// Holds what a search returns as the nearest point for each position against all points, which are at that place
/// among the arguments behind the position.
fn nearest(name: &str, points: usize, mut search: impl FnMut(&[Argument], i32, [f32; 2]) -> i32) {
    for (data, inputs) in data_sets(name) {
        let [x, y, tree @ ..] = &inputs.arguments[..] else { panic!() };
        let points = floats(&tree[points]);
        let mut found = run(&inputs, |i, at| {
            let position = [float(x, at), float(y, at)];
            let node = search(tree, i, position) as usize;
            let distance = squared_distance(&points[2 * node..2 * node + 2], &position).sqrt();
            let least = points
                .chunks(2)
                .map(|point| squared_distance(point, &position))
                .fold(f64::INFINITY, f64::min)
                .sqrt();
            assert!(distance <= least * (1.0 + 1e-5), "{data}: {distance} from {position:?}, not {least}");
            node
        });
        found.sort_unstable();
        found.dedup();
        assert!(found.len() > 50, "{data}: positions have different neighbours");
    }
}

/// What searches in kd-trees are.
type InKdTree = unsafe extern "C" fn(i32, f32, f32, i32, *const f32, *const f32, *const f32) -> i32;

/// Holds a search in a kd-tree against all points.
fn nearest_in_kd_tree(name: &str, function: InKdTree) {
    nearest(name, 3, |tree, i, [x, y]| {
        let [Int(depth), cuts, boxes, points] = tree else { panic!() };
        let [cuts, boxes, points] = [cuts, boxes, points].map(|array| floats(array).as_ptr());
        unsafe { function(i, x, y, *depth as i32, cuts, boxes, points) }
    });
}

#[test]
fn nn_finds_the_nearest_of_all_points() {
    nearest_in_kd_tree("nn", nn::nn);
}

#[test]
fn vp_finds_the_nearest_of_all_points() {
    nearest("vp", 2, |tree, i, [x, y]| {
        let [Int(depth), nodes, points] = tree else { panic!() };
        unsafe { vp::vp(i, x, y, *depth as i32, floats(nodes).as_ptr(), floats(points).as_ptr()) }
    });
}

#[test]
fn km_assigns_points_to_the_nearest_of_all_centroids() {
    nearest_in_kd_tree("km", km::km);
}

/// The sum of what all other bodies do to one.
fn acceleration(bodies: &[[f64; 3]], i: usize, softening: f64) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for body in bodies {
        let offset: [f64; 3] = std::array::from_fn(|axis| body[axis] - bodies[i][axis]);
        let distance2 = offset.iter().map(|d| d * d).sum::<f64>() + softening;
        for axis in 0..3 {
            sum[axis] += offset[axis] / (bodies.len() as f64 * distance2 * distance2.sqrt());
        }
    }
    sum
}

#[test]
fn bh_is_near_the_sum_over_all_bodies() {
    for (data, inputs) in data_sets("bh") {
        let results = bh_results(&inputs);
        let [_, Float(softening), x, y, z, ..] = &inputs.arguments[..] else { panic!() };
        let (x, y, z) = (floats(x), floats(y), floats(z));
        let bodies: Vec<[f64; 3]> = (0..x.len()).map(|i| [x[i], y[i], z[i]].map(f64::from)).collect();
        let (mut errors, mut lengths) = (0.0, 0.0);
        for (i, exact) in (0..bodies.len()).map(|i| (i, acceleration(&bodies, i, *softening))) {
            errors +=
                (0..3).map(|axis| (f64::from(results[axis][i]) - exact[axis]).powi(2)).sum::<f64>().sqrt();
            lengths += exact.iter().map(|a| a * a).sum::<f64>().sqrt();
        }
        let error = errors / lengths;
        assert!(error < 0.01, "{data}: the forces are off by {error} on average");
        assert!(error > 1e-5, "{data}: some cells count as one body");
    }
}

/// What `bh` writes: the accelerations along the axes.
fn bh_results(inputs: &Inputs) -> Vec<Vec<f32>> {
    let (count, (begin, end)) = (floats(&inputs.arguments[2]).len(), inputs.range);
    let [Int(cells), Float(softening), x, y, z, masses, openings, nexts, ..] = &inputs.arguments[..] else {
        panic!()
    };
    let mut results = vec![vec![f32::NAN; count]; 3];
    let [ax, ay, az] = &mut results[..] else { panic!() };
    for i in begin..end {
        let (i, cells, softening) = (i as i32, *cells as i32, *softening as f32);
        let [x, y, z, masses, openings] = [x, y, z, masses, openings].map(|array| floats(array).as_ptr());
        let [ax, ay, az] = [&mut *ax, &mut *ay, &mut *az].map(|array| array.as_mut_ptr());
        unsafe { bh::bh(i, cells, softening, x, y, z, masses, openings, ints(nexts).as_ptr(), ax, ay, az) };
    }
    results
}

#[test]
fn queries_of_sorted_data_sets_are_those_of_the_random_ones() {
    for kernel in warpline_kernels::all().filter(|kernel| kernel.data.contains(&"sorted")) {
        let make =
            |name| (kernel.make)(kernel.data.iter().position(|data| *data == name).unwrap(), Size::Small, 1);
        let (random, sorted) = (make("random"), make("sorted"));
        let mut reordered = 0;
        for (random, sorted) in random.arguments.iter().zip(&sorted.arguments) {
            match (random, sorted) {
                (Each(random), Each(sorted)) => {
                    reordered += usize::from(random != sorted);
                    assert_eq!(in_order(random), in_order(sorted), "{}", kernel.name);
                }
                _ => assert_eq!(random, sorted, "{}", kernel.name),
            }
        }
        assert!(reordered > 0, "{}", kernel.name);
    }
}

/// The bits of the numbers, sorted.
fn in_order(values: &Values) -> Vec<u32> {
    let mut bits: Vec<u32> = match values {
        F32(values) => values.iter().map(|value| value.to_bits()).collect(),
        I32(values) => values.iter().map(|value| *value as u32).collect(),
        _ => panic!("{values:?}"),
    };
    bits.sort_unstable();
    bits
}
