//! Trees that cut the plane along its axes (Bentley: Multidimensional binary search trees used for associative
//! searching, 1975).

use super::points::{Point, bounds};

/// A kd-tree with a point at each node. Nodes are in preorder; the root is node 0.
pub struct Tree {
    /// Least x, least y, greatest x, greatest y of each node's subtree.
    pub boxes: Vec<f32>,
    /// Each node's x and y.
    pub points: Vec<f32>,
    /// Each node's two children, or 0 for none.
    pub children: Vec<i32>,
}

impl Tree {
    /// A balanced tree of the points, of which there must be one. Each node's box is cut across its longer side.
    pub fn new(mut points: Vec<Point>) -> Tree {
        let count = points.len();
        let mut tree = Tree {
            boxes: Vec::with_capacity(4 * count),
            points: Vec::with_capacity(2 * count),
            children: Vec::with_capacity(2 * count),
        };
        tree.add(&mut points);
        tree
    }

    /// Adds the tree of these points, and returns its root, or 0 if there are none.
    fn add(&mut self, points: &mut [Point]) -> i32 {
        if points.is_empty() {
            return 0;
        }
        let (lo, hi) = bounds(points);
        let axis = usize::from(hi[1] - lo[1] > hi[0] - lo[0]);
        let (left, median, right) =
            points.select_nth_unstable_by(points.len() / 2, |a, b| a[axis].total_cmp(&b[axis]));
        let node = self.children.len() / 2;
        self.boxes.extend(lo.into_iter().chain(hi));
        self.points.extend(*median);
        self.children.extend([0, 0]);
        self.children[2 * node] = self.add(left);
        self.children[2 * node + 1] = self.add(right);
        node as i32
    }
}
