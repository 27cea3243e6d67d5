//! Assignment of points to the nearest of a few centroids, one point per lane: a step of the k-means algorithm (Moll
//! and Hack: Partial Control-Flow Linearization, PLDI 2018, Sec. 7.1, `km`).
//!
//! The centroids are in buckets, which are the leaves of a complete kd-tree. The stack of nodes to visit is the same
//! for all lanes: a subtree is visited if its box is not too far away for *any* lane, and the child on whose side
//! most lanes are is visited first. So the loops and their branches are uniform; whether a centroid is nearer than
//! the nearest so far differs from lane to lane.
//!
//! In a tree of so few centroids, lanes with unrelated positions visit nearly all nodes, but in larger ones they
//! would follow each other through very different parts: compare `nn.rs`, where each lane goes its own way.

use warpline_lanes::{warpline_any, warpline_popcount};

/// More than the depth of a tree can be.
const STACK: usize = 32;

/// The number of centroids in a bucket.
const BUCKET: i32 = 8;

/// How far `x` is outside `lo..=hi`; 0 inside. Rounding does not make it more than the distance of `x` from any
/// number in there.
#[inline(always)]
fn gap(x: f32, lo: f32, hi: f32) -> f32 {
    let (below, above) = (lo - x, x - hi);
    let gap = if below > above { below } else { above };
    if gap > 0.0 { gap } else { 0.0 }
}

/// The nearest centroid so far, and the square of its distance.
struct Nearest {
    centroid: i32,
    distance: f32,
}

impl Nearest {
    /// Takes the centroid if it is nearer. Of those as near as each other it keeps the first, so that the order of
    /// visits has no influence.
    #[inline(always)]
    fn offer(&mut self, centroid: i32, distance: f32) {
        let first = if centroid < self.centroid { centroid } else { self.centroid };
        let of_equals = if distance == self.distance { first } else { self.centroid };
        self.centroid = if distance < self.distance { centroid } else { of_equals };
        self.distance = if distance < self.distance { distance } else { self.distance };
    }
}

//@ args _i=index, x=varying, y=varying

/// Returns the number of the centroid that is nearest to (`x`, `y`); of several, the first.
///
/// The tree is `depth` nodes deep; the root is node 1, and the children of node `k` are `2 * k`, on the left, and
/// `2 * k + 1`. On the axis `cuts[2 * k + 1]` (x is 0, y is 1), `cuts[2 * k]` is between them. What is below the node
/// lies in the box `boxes[4 * k..]`: least x, least y, greatest x, greatest y. Below `depth` nodes is bucket
/// `k - (1 << depth)` in the place of node `k`; the first centroid of a bucket `b` is number `BUCKET * b`. Centroid
/// `c` is at (`centroids[2 * c]`, `centroids[2 * c + 1]`).
///
/// # Safety
/// The arrays have that many elements, and `depth` is less than `STACK`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn km(
    _i: i32,
    x: f32,
    y: f32,
    depth: i32,
    cuts: *const f32,
    boxes: *const f32,
    centroids: *const f32,
) -> i32 {
    let buckets = 1 << depth;
    let mut nearest = Nearest { centroid: 0, distance: f32::INFINITY };
    let mut stack = [1i32; STACK];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        unsafe {
            let node = *stack.get_unchecked(top);
            let bounds = boxes.offset(4 * node as isize);
            let (gap_x, gap_y) = (gap(x, *bounds, *bounds.add(2)), gap(y, *bounds.add(1), *bounds.add(3)));
            if !warpline_any(gap_x * gap_x + gap_y * gap_y <= nearest.distance) {
                continue;
            }
            if node >= buckets {
                for k in 0..BUCKET {
                    let centroid = BUCKET * (node - buckets) + k;
                    let at = centroids.offset(2 * centroid as isize);
                    let (dx, dy) = (x - *at, y - *at.add(1));
                    nearest.offer(centroid, dx * dx + dy * dy);
                }
            } else {
                let cut = cuts.offset(2 * node as isize);
                let beyond = if *cut.add(1) == 0.0 { x } else { y } - *cut;
                let right_first = 2 * warpline_popcount(beyond > 0.0) > warpline_popcount(true);
                *stack.get_unchecked_mut(top) = 2 * node + !right_first as i32;
                *stack.get_unchecked_mut(top + 1) = 2 * node + right_first as i32;
                top += 2;
            }
        }
    }
    nearest.centroid
}
