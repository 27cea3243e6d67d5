//! Nearest neighbour in a vantage-point tree, one query per lane (Moll and Hack: Partial Control-Flow Linearization, PLDI 2018, Sec. 7.1, `vp`;
//! the tree: Yianilos: Data structures and algorithms for nearest neighbor search in general metric spaces, 1993).
//!
//! Each node is a point, with the points near it on one side and those far from it on the other. The stack of nodes to visit is the same for
//! all lanes: a subtree is visited if *any* lane may find something nearer there, judged by its distance from the node, and the side on which
//! most lanes are is visited first. This loop and its branches are uniform; whether a point is nearer than the nearest so far differs from
//! lane to lane.
//!
//! A lane that is not where the others are would follow them everywhere, as it has found nothing near yet. So each lane first goes down on its
//! own, in a divergent loop with gathers. One lane alone has no need of that.

use warpline_lanes::{warpline_any, warpline_lane_count, warpline_popcount};

/// More than the depth of a balanced tree can be.
const STACK: usize = 64;

/// The nearest node so far, and its distance.
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

/// The distance of a position from a node's point.
#[inline(always)]
unsafe fn distance(x: f32, y: f32, node: i32, points: *const f32) -> f32 {
    let point = unsafe { points.offset(2 * node as isize) };
    let (dx, dy) = unsafe { (x - *point, y - *point.add(1)) };
    (dx * dx + dy * dy).sqrt()
}

/// The nearest of the nodes on the way down along which the position is on the node's side.
#[inline(always)]
unsafe fn descend(x: f32, y: f32, points: *const f32, rings: *const f32, children: *const i32) -> Nearest {
    let mut nearest = Nearest { node: 0, distance: f32::INFINITY };
    let mut node = 0;
    loop {
        unsafe {
            let d = distance(x, y, node, points);
            nearest.offer(node, d);
            let is_outside = d > *rings.offset(4 * node as isize + 1);
            node = *children.offset((2 * node + is_outside as i32) as isize);
        }
        if node == 0 {
            return nearest;
        }
    }
}

//@ args _i=index, x=varying, y=varying

/// Returns the node whose point is nearest to (`x`, `y`); of several, the first.
///
/// Node `k` is the point (`points[2 * k]`, `points[2 * k + 1]`). Its children are `children[2 * k]` and `children[2 * k + 1]`, or 0 for none. The
/// distances of all points below them from that point are between `rings[4 * k]` and `rings[4 * k + 1]`, and between `rings[4 * k + 2]` and
/// `rings[4 * k + 3]`, wide enough that rounding does not matter. The root is node 0.
///
/// # Safety
/// The arrays have that many elements, and the tree is less than `STACK` nodes deep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vp(
    _i: i32,
    x: f32,
    y: f32,
    points: *const f32,
    rings: *const f32,
    children: *const i32,
) -> i32 {
    let mut nearest = Nearest { node: 0, distance: f32::INFINITY };
    if warpline_lane_count() > 1 {
        nearest = unsafe { descend(x, y, points, rings, children) };
    }
    let mut stack = [0i32; STACK];
    let mut top = 1;
    while top > 0 {
        top -= 1;
        unsafe {
            let node = *stack.get_unchecked(top);
            let d = distance(x, y, node, points);
            nearest.offer(node, d);
            let ring = rings.offset(4 * node as isize);
            let (least, most) = (d - nearest.distance, d + nearest.distance);
            let inside = *children.offset(2 * node as isize);
            let outside = *children.offset(2 * node as isize + 1);
            let to_inside = inside > 0 && warpline_any((least <= *ring.add(1)) & (most >= *ring));
            let to_outside = outside > 0 && warpline_any((least <= *ring.add(3)) & (most >= *ring.add(2)));
            if to_inside && to_outside {
                let outside_first = 2 * warpline_popcount(d > *ring.add(1)) > warpline_popcount(true);
                *stack.get_unchecked_mut(top) = if outside_first { inside } else { outside };
                *stack.get_unchecked_mut(top + 1) = if outside_first { outside } else { inside };
                top += 2;
            } else if to_inside || to_outside {
                *stack.get_unchecked_mut(top) = if to_inside { inside } else { outside };
                top += 1;
            }
        }
    }
    nearest.node
}
