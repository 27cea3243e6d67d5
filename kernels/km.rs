//! Assignment of points to the nearest of a few centroids, one point per lane: a step of the k-means algorithm (Moll and Hack: Partial Control-Flow
//! Linearization, PLDI 2018, Sec. 7.1, `km`).
//!
//! The centroids are the nodes of a kd-tree, each with the bounding box of its subtree. The stack of nodes to visit is the same for all lanes: a
//! subtree is visited if its box is not too far away for *any* lane, and the child on whose side most lanes are is visited first. So the loop
//! and its branches are uniform; whether a centroid is nearer than the nearest so far differs from lane to lane.

use warpline_lanes::{warpline_any, warpline_popcount};

/// More than the depth of a balanced tree can be.
const STACK: usize = 64;

/// How far `x` is outside `lo..=hi`; 0 inside. Rounding does not make it more than the distance of `x` from any number in there.
#[inline(always)]
fn gap(x: f32, lo: f32, hi: f32) -> f32 {
    let (below, above) = (lo - x, x - hi);
    let gap = if below > above { below } else { above };
    if gap > 0.0 { gap } else { 0.0 }
}

/// The nearest node so far, and the square of its distance.
struct Nearest {
    node: i32,
    distance: f32,
}

impl Nearest {
    /// Takes the node if it is nearer. Of nodes as near as each other it keeps the first, so that the order of visits has no influence.
    #[inline(always)]
    fn offer(&mut self, node: i32, distance: f32) {
        if (distance < self.distance) | ((distance == self.distance) & (node < self.node)) {
            *self = Nearest { node, distance };
        }
    }
}

//@ args _i=index, x=varying, y=varying

/// Returns the node whose point is nearest to (`x`, `y`); of several, the first.
///
/// Node `k` is the point (`points[2 * k]`, `points[2 * k + 1]`). Its subtree lies in the box `boxes[4 * k..]`: least x, least y, greatest x,
/// greatest y. Its children are `children[2 * k]` and `children[2 * k + 1]`, or 0 for none; there is no right one without a left one. On their axis,
/// `axes[k]` (x is 0, y is 1), the node's point is between them. The root is node 0.
///
/// # Safety
/// The arrays have that many elements, and the tree is less than `STACK` nodes deep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn km(
    _i: i32,
    x: f32,
    y: f32,
    axes: *const i32,
    boxes: *const f32,
    points: *const f32,
    children: *const i32,
) -> i32 {
    let mut nearest = Nearest { node: 0, distance: f32::INFINITY };
    let mut stack = [0i32; STACK];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        unsafe {
            let node = *stack.get_unchecked(top);
            let k = node as isize;
            let bounds = boxes.offset(4 * k);
            let (gap_x, gap_y) = (gap(x, *bounds, *bounds.add(2)), gap(y, *bounds.add(1), *bounds.add(3)));
            if !warpline_any(gap_x * gap_x + gap_y * gap_y <= nearest.distance) {
                continue;
            }
            let (dx, dy) = (x - *points.offset(2 * k), y - *points.offset(2 * k + 1));
            nearest.offer(node, dx * dx + dy * dy);
            let (left, right) = (*children.offset(2 * k), *children.offset(2 * k + 1));
            if right > 0 {
                let beyond = if *axes.offset(k) == 0 { dx } else { dy };
                let right_first = 2 * warpline_popcount(beyond > 0.0) > warpline_popcount(true);
                *stack.get_unchecked_mut(top) = if right_first { left } else { right };
                *stack.get_unchecked_mut(top + 1) = if right_first { right } else { left };
                top += 2;
            } else if left > 0 {
                *stack.get_unchecked_mut(top) = left;
                top += 1;
            }
        }
    }
    nearest.node
}
