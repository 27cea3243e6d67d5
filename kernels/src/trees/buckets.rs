//! Trees that cut the plane along its axes, with the points in buckets below (Friedman, Bentley, Finkel: An algorithm
//! for finding best matches in logarithmic expected time, 1977).

use super::points::{Point, bounds};

/// The number of points in a bucket, as in the kernels.
pub const BUCKET: usize = 8;

/// How deep a complete tree is that halves so many points until they fit into buckets. No bucket is empty.
pub fn depth(points: usize) -> usize {
    points.div_ceil(BUCKET).next_power_of_two().trailing_zeros() as usize
}

/// The points, of which there must be one, with the last one repeated to fill a bucket.
pub fn bucket(points: &[Point]) -> [Point; BUCKET] {
    std::array::from_fn(|k| points[k.min(points.len() - 1)])
}

/// A complete kd-tree: all buckets are below the same number of nodes. The root is node 1, and the children of node
/// *k* are 2*k* and 2*k* + 1.
pub struct Tree {
    /// How many nodes are above each bucket.
    pub depth: usize,
    /// Where each node cuts, and across which axis: x is 0, y is 1.
    pub cuts: Vec<f32>,
    /// Least x, least y, greatest x, greatest y of what is below each node, and then of what is in each bucket.
    pub boxes: Vec<f32>,
    /// x and y of each bucket's points. Where there are fewer, the last one is repeated.
    pub points: Vec<f32>,
}

impl Tree {
    /// A tree of the points, of which there must be one. Each node's box is cut across its longer side.
    pub fn new(mut points: Vec<Point>) -> Tree {
        let depth = depth(points.len());
        let buckets = 1 << depth;
        let mut tree = Tree {
            depth,
            cuts: vec![0.0; 2 * buckets],
            boxes: vec![0.0; 8 * buckets],
            points: Vec::with_capacity(2 * BUCKET * buckets),
        };
        tree.add(1, buckets, &mut points);
        tree
    }

    /// Adds these points as the node, with so many buckets below it. Buckets are added from left to right.
    fn add(&mut self, node: usize, buckets: usize, points: &mut [Point]) {
        let (lo, hi) = bounds(points);
        self.boxes[4 * node..][..4].copy_from_slice(&[lo[0], lo[1], hi[0], hi[1]]);
        if buckets == 1 {
            self.points.extend(bucket(points).as_flattened());
            return;
        }
        let axis = usize::from(hi[1] - lo[1] > hi[0] - lo[0]);
        let (_, median, _) =
            points.select_nth_unstable_by(points.len() / 2, |a, b| a[axis].total_cmp(&b[axis]));
        self.cuts[2 * node] = median[axis];
        self.cuts[2 * node + 1] = axis as f32;
        let (left, right) = points.split_at_mut(points.len() / 2);
        self.add(2 * node, buckets / 2, left);
        self.add(2 * node + 1, buckets / 2, right);
    }
}
