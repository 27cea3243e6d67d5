//! Triangles and the hierarchy of boxes around them.

use std::f64::consts::{PI, TAU};

use super::camera::camera;
use crate::{Argument, Inputs, Kernel, Random, Size, Values};

/// Pixels in a row, as in the kernel.
const WIDTH: u32 = 256;
/// The greatest number of triangles in a leaf.
const LEAF: usize = 4;

/// Rays through a hierarchy, in packets.
pub const KERNEL: Kernel = Kernel {
    name: "rt",
    about: "rays through a hierarchy of boxes: a uniform stack, divergent hits",
    file: "rt.rs",
    source: include_str!("../../rt.rs"),
    c: include_str!("../../rt.c"),
    by_hand: None,
    function: "rt",
    args: Some("i=index"),
    data: &["landscape", "spheres"],
    make,
};

/// Rays through a hierarchy, each on its own way.
pub const RAYS: Kernel = Kernel {
    name: "rays",
    about: "the same with a stack for each ray: lanes agree on most nodes without being told to",
    function: "rays",
    ..KERNEL
};

/// The corners of a triangle.
type Triangle = [[f32; 3]; 3];

/// A landscape seen from a hill, or a heap of spheres.
fn make(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let height = size.pick(8, 384, 1024);
    let (triangles, eye, at) = match data {
        0 => (landscape(size.pick(24, 128, 512), &mut random), [-0.7, 0.5, -0.6], [0.2, 0.0, 0.3]),
        _ => (spheres(size.pick(12, 60, 960), &mut random), [0.3, 0.7, 2.0], [0.0, 0.0, 0.0]),
    };
    let hierarchy = Hierarchy::new(triangles);
    let pixels = WIDTH * height;
    Inputs {
        range: (0, i64::from(pixels)),
        arguments: vec![
            Argument::Array(Values::F32(hierarchy.bounds)),
            Argument::Array(Values::I32(hierarchy.first)),
            Argument::Array(Values::I32(hierarchy.kind)),
            Argument::Array(Values::F32(edges(&hierarchy.triangles))),
            Argument::Array(Values::F32(camera(eye, at, WIDTH, height))),
            Argument::Array(Values::F32(vec![0.0; pixels as usize])),
        ],
    }
}

/// A height field of `cells` by `cells` squares of two triangles over −1..1 by −1..1: waves in random directions.
fn landscape(cells: usize, random: &mut Random) -> Vec<Triangle> {
    let waves = [0; 12].map(|_| {
        let (direction, frequency) = (random.between(0.0, TAU), random.between(1.0, 14.0));
        [frequency * direction.cos(), frequency * direction.sin(), random.between(0.0, TAU), 0.3 / frequency]
    });
    let at = |i: usize, j: usize| {
        let (x, z) = (2.0 * i as f64 / cells as f64 - 1.0, 2.0 * j as f64 / cells as f64 - 1.0);
        let y: f64 = waves.iter().map(|[a, b, phase, height]| height * (a * x + b * z + phase).sin()).sum();
        [x as f32, y as f32, z as f32]
    };
    let square = |i, j| {
        let corners = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
        [[corners[0], corners[1], corners[2]], [corners[3], corners[2], corners[1]]]
    };
    (0..cells * cells).flat_map(|k| square(k % cells, k / cells)).collect()
}

/// `count` spheres of 448 triangles each within the unit sphere.
fn spheres(count: usize, random: &mut Random) -> Vec<Triangle> {
    const RINGS: usize = 15;
    const PARTS: usize = 16;
    let mut triangles = Vec::with_capacity(count * 2 * PARTS * (RINGS - 1));
    for _ in 0..count {
        let radius = random.between(0.4, 1.0) * 0.9 / (count as f64).cbrt();
        let mut direction = [random.normal(), random.normal(), random.normal()];
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        let distance = random.unit().cbrt();
        direction = direction.map(|x| x / length * distance);
        let at = |ring: usize, part: usize| {
            let (polar, around) =
                (PI * ring as f64 / RINGS as f64, TAU * (part % PARTS) as f64 / PARTS as f64);
            let point = [polar.sin() * around.cos(), polar.cos(), polar.sin() * around.sin()];
            std::array::from_fn(|k| (direction[k] + radius * point[k]) as f32)
        };
        for ring in 0..RINGS {
            for part in 0..PARTS {
                let (upper, lower) =
                    ([at(ring, part), at(ring, part + 1)], [at(ring + 1, part), at(ring + 1, part + 1)]);
                if ring > 0 {
                    triangles.push([upper[0], upper[1], lower[0]]);
                }
                if ring + 1 < RINGS {
                    triangles.push([lower[1], lower[0], upper[1]]);
                }
            }
        }
    }
    triangles
}

/// Corners and edges from there, as the kernel wants them.
fn edges(triangles: &[Triangle]) -> Vec<f32> {
    let minus = |a: [f32; 3], b: [f32; 3]| std::array::from_fn::<f32, 3, _>(|k| a[k] - b[k]);
    triangles.iter().flat_map(|[a, b, c]| [*a, minus(*b, *a), minus(*c, *a)]).flatten().collect()
}

/// A hierarchy of boxes, in arrays as the kernel wants them.
struct Hierarchy {
    triangles: Vec<Triangle>,
    bounds: Vec<f32>,
    first: Vec<i32>,
    kind: Vec<i32>,
}

impl Hierarchy {
    /// Halves the triangles, by the axis in which their middles are farthest apart, until `LEAF` are left.
    fn new(triangles: Vec<Triangle>) -> Hierarchy {
        let count = triangles.len();
        let mut hierarchy = Hierarchy { triangles, bounds: vec![], first: vec![], kind: vec![] };
        hierarchy.push();
        let mut todo = vec![(0, 0, count)];
        while let Some((node, from, to)) = todo.pop() {
            hierarchy.enclose(node, from, to);
            if to - from <= LEAF {
                hierarchy.first[node] = from as i32;
                hierarchy.kind[node] = (to - from) as i32;
                continue;
            }
            let part = &mut hierarchy.triangles[from..to];
            let axis = widest(part);
            let half = part.len() / 2;
            part.select_nth_unstable_by(half, |a, b| middle(a, axis).total_cmp(&middle(b, axis)));
            let child = hierarchy.push();
            hierarchy.push();
            hierarchy.first[node] = child as i32;
            hierarchy.kind[node] = -(axis as i32);
            todo.extend([(child, from, from + half), (child + 1, from + half, to)]);
        }
        hierarchy
    }

    /// Adds a node that nothing is known of.
    fn push(&mut self) -> usize {
        self.bounds.extend([0.0; 6]);
        self.first.push(0);
        self.kind.push(0);
        self.first.len() - 1
    }

    /// Makes the box of a node that around some triangles.
    fn enclose(&mut self, node: usize, from: usize, to: usize) {
        let corners = self.triangles[from..to].as_flattened();
        for axis in 0..3 {
            let along = corners.iter().map(|corner| corner[axis]);
            self.bounds[6 * node + axis] = along.clone().fold(f32::INFINITY, f32::min);
            self.bounds[6 * node + axis + 3] = along.fold(f32::NEG_INFINITY, f32::max);
        }
    }
}

/// Three times the middle of a triangle along an axis.
fn middle(triangle: &Triangle, axis: usize) -> f32 {
    triangle.iter().map(|corner| corner[axis]).sum()
}

/// The axis along which the middles of triangles are farthest apart.
fn widest(triangles: &[Triangle]) -> usize {
    let extent = |axis: usize| {
        let along = triangles.iter().map(|t| middle(t, axis));
        along.clone().fold(f32::NEG_INFINITY, f32::max) - along.fold(f32::INFINITY, f32::min)
    };
    (0..3).max_by(|a, b| extent(*a).total_cmp(&extent(*b))).expect("there are three axes")
}
