//! Gravitation by Barnes' and Hut's method.

use super::points::{bounds, sort_along_curve};
use crate::{
    Argument::{Array, Float, Int},
    Inputs, Kernel, Random, Size,
    Values::{F32, I32},
};

/// The accelerations of all bodies.
pub const BH: Kernel = Kernel {
    name: "bh",
    about: "gravitation of many bodies (Barnes and Hut)",
    file: "bh.rs",
    source: include_str!("../../bh.rs"),
    c: include_str!("../../bh.c"),
    by_hand: None,
    function: "bh",
    args: Some("i=index"),
    data: &["random", "plummer"],
    make,
};

/// How large cells may look that count as one body: side by distance.
const THETA: f64 = 0.5;
/// What squares of distances are increased by.
const SOFTENING: f64 = 1e-6;

/// x, y, z. All bodies together have the mass 1.
type Body = [f32; 3];

/// Bodies spread evenly over a cube of side 1 (`random`), or denser towards the middle (`plummer`), along a curve.
fn make(data: usize, size: Size, seed: u64) -> Inputs {
    let mut random = Random::new(seed);
    let paper = if data == 0 { 1_000_000 } else { 100_000 };
    let count = size.pick(300, 15_000, paper);
    let body = if data == 0 { in_cube } else { in_plummer_sphere };
    let mut bodies: Vec<Body> = (0..count).map(|_| body(&mut random)).collect();
    sort_along_curve(&mut bodies);
    let tree = Tree::new(&bodies);
    let coordinate = |axis: usize| Array(F32(bodies.iter().map(|body| body[axis]).collect()));
    let result = || Array(F32(vec![0.0; count]));
    Inputs {
        range: (0, count as i64),
        arguments: vec![
            Int(tree.nexts.len() as i64),
            Float(SOFTENING),
            coordinate(0),
            coordinate(1),
            coordinate(2),
            Array(F32(tree.masses)),
            Array(F32(tree.openings)),
            Array(I32(tree.nexts)),
            result(),
            result(),
            result(),
        ],
    }
}

fn in_cube(random: &mut Random) -> Body {
    std::array::from_fn(|_| random.unit() as f32)
}

/// A body of Plummer's model of a star cluster with scale length 1 (Aarseth, Hénon, Wielen: A comparison of numerical
/// methods for the study of star cluster dynamics, 1974), but none of the hundredth that is farthest from the middle.
fn in_plummer_sphere(random: &mut Random) -> Body {
    let enclosed = random.between(1e-9, 0.99);
    let radius = 1.0 / (enclosed.powf(-2.0 / 3.0) - 1.0).sqrt();
    let z = random.between(-1.0, 1.0);
    let angle = random.between(0.0, std::f64::consts::TAU);
    let ring = (1.0 - z * z).sqrt();
    [ring * angle.cos(), ring * angle.sin(), z].map(|direction| (radius * direction) as f32)
}

/// An octree, its cells in preorder.
struct Tree {
    /// Center and mass of each cell.
    masses: Vec<f32>,
    /// The square of the distance from which on each cell counts as one body.
    openings: Vec<f32>,
    /// The first cell behind those in each cell.
    nexts: Vec<i32>,
    /// The mass of a body.
    mass: f64,
}

/// A cube.
struct Cube {
    middle: [f64; 3],
    side: f64,
}

impl Cube {
    /// Around all bodies.
    fn around(bodies: &[Body]) -> Cube {
        let (lo, hi) = bounds(bodies);
        let extent = |axis: usize| f64::from(hi[axis]) - f64::from(lo[axis]);
        Cube {
            middle: std::array::from_fn(|axis| f64::from(lo[axis]) + extent(axis) / 2.0),
            side: (0..3).map(extent).fold(0.0, f64::max),
        }
    }

    /// The number of the eighth that the body is in: a bit for each axis.
    fn octant_of(&self, body: &Body) -> usize {
        (0..3).map(|axis| usize::from(f64::from(body[axis]) >= self.middle[axis]) << axis).sum()
    }

    /// An eighth.
    fn octant(&self, number: usize) -> Cube {
        let quarter = |axis: usize| if number >> axis & 1 == 1 { self.side / 4.0 } else { -self.side / 4.0 };
        Cube { middle: std::array::from_fn(|axis| self.middle[axis] + quarter(axis)), side: self.side / 2.0 }
    }
}

/// Cells this deep are not divided further, so that bodies may be in the same place.
const DEEPEST: u32 = 40;

impl Tree {
    /// The tree of bodies, of which there must be one.
    fn new(bodies: &[Body]) -> Tree {
        let mass = 1.0 / bodies.len() as f64;
        let mut tree = Tree { masses: Vec::new(), openings: Vec::new(), nexts: Vec::new(), mass };
        tree.add(bodies, &Cube::around(bodies), 0);
        tree
    }

    /// Adds a cell with the cells in it.
    fn add(&mut self, bodies: &[Body], cube: &Cube, depth: u32) {
        if let [body] = bodies {
            return self.add_body(body);
        }
        let cell = self.nexts.len();
        let count = bodies.len() as f64;
        let center = |axis: usize| bodies.iter().map(|body| f64::from(body[axis])).sum::<f64>() / count;
        self.masses.extend([center(0), center(1), center(2), self.mass * count].map(|number| number as f32));
        self.openings.push((cube.side / THETA).powi(2) as f32);
        self.nexts.push(0);
        if depth == DEEPEST {
            bodies.iter().for_each(|body| self.add_body(body));
        } else {
            let mut octants: [Vec<Body>; 8] = Default::default();
            bodies.iter().for_each(|body| octants[cube.octant_of(body)].push(*body));
            for (number, octant) in octants.iter().enumerate().filter(|(_, octant)| !octant.is_empty()) {
                self.add(octant, &cube.octant(number), depth + 1);
            }
        }
        self.nexts[cell] = self.nexts.len() as i32;
    }

    /// Adds the cell of a single body.
    fn add_body(&mut self, body: &Body) {
        self.masses.extend(body);
        self.masses.push(self.mass as f32);
        self.openings.push(0.0);
        self.nexts.push(self.nexts.len() as i32 + 1);
    }
}
