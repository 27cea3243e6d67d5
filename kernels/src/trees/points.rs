//! Points of the plane and their orders.

use crate::Random;

/// The side of the square that points are in: its diagonal is 141.421, the diameter of the paper's random points.
pub const SIDE: f64 = 100.0;

/// A point: x and y.
pub type Point = [f32; 2];

/// Points that are spread evenly over the square.
pub fn uniform(random: &mut Random, count: usize) -> Vec<Point> {
    (0..count).map(|_| [random.between(0.0, SIDE) as f32, random.between(0.0, SIDE) as f32]).collect()
}

/// Points in heaps, as cities are: normally distributed about centers that are spread evenly over the square. Heaps
/// differ in width, and a few points stick out of the square.
pub fn clustered(random: &mut Random, count: usize) -> Vec<Point> {
    const HEAPS: usize = 64;
    let heaps: Vec<(Point, f64)> = uniform(random, HEAPS)
        .into_iter()
        .map(|center| (center, SIDE * 0.03 * random.unit() + SIDE * 0.001))
        .collect();
    (0..count)
        .map(|_| {
            let (center, width) = heaps[random.below(HEAPS as u64) as usize];
            center.map(|c| (f64::from(c) + width * random.normal()) as f32)
        })
        .collect()
}

/// Positions that are spread evenly over the bounding box of the points, of which there must be one.
pub fn queries(random: &mut Random, points: &[Point], count: usize) -> Vec<Point> {
    let (lo, hi) = bounds(points);
    let mut coordinate = |axis: usize| random.between(f64::from(lo[axis]), f64::from(hi[axis])) as f32;
    (0..count).map(|_| [coordinate(0), coordinate(1)]).collect()
}

/// The corners of the points' bounding box: the least coordinates, and the greatest.
pub fn bounds<const D: usize>(points: &[[f32; D]]) -> ([f32; D], [f32; D]) {
    let (mut lo, mut hi) = ([f32::INFINITY; D], [f32::NEG_INFINITY; D]);
    for point in points {
        for axis in 0..D {
            lo[axis] = lo[axis].min(point[axis]);
            hi[axis] = hi[axis].max(point[axis]);
        }
    }
    (lo, hi)
}

/// Puts points in Morton's order, so that those near each other in the list are near each other in space.
pub fn sort_along_curve<const D: usize>(points: &mut [[f32; D]]) {
    let (lo, hi) = bounds(points);
    points.sort_by_cached_key(|point| morton(point, &lo, &hi));
}

/// The bits of the coordinates, as fractions of the box, taken in turns.
fn morton<const D: usize>(point: &[f32; D], lo: &[f32; D], hi: &[f32; D]) -> u64 {
    let bits = 64 / D as u32;
    let cells = (1u64 << bits.min(20)) as f64;
    let cell = |axis: usize| {
        let extent = f64::from(hi[axis] - lo[axis]).max(f64::MIN_POSITIVE);
        (f64::from(point[axis] - lo[axis]) / extent * (cells - 1.0)) as u64
    };
    let cells: [u64; D] = std::array::from_fn(cell);
    (0..bits.min(20)).rev().fold(0, |key, bit| cells.iter().fold(key, |key, cell| key << 1 | cell >> bit & 1))
}
