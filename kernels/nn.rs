//! Nearest neighbour in a kd-tree, one query per lane (Moll and Hack: Partial Control-Flow Linearization, PLDI 2018, Sec. 7.1, `nn`).
//!
//! Each node has a point and the bounding box of its subtree. The stack of nodes to visit is the same for all lanes: a subtree is visited if
//! its box is not too far away for *any* lane, and the child on whose side most lanes are is visited first. This loop and its branches are
//! uniform; whether a point is nearer than the nearest so far differs from lane to lane.
//!
//! A lane that is not where the others are would follow them everywhere, as it has found nothing near yet. So lanes first go down to where their
//! positions would be put in the tree: together as long as they agree on the way, in a uniform loop, then each on its own, in a divergent loop with
//! gathers. One lane alone has no need of that.

use warpline_lanes::{warpline_any, warpline_lane_count, warpline_popcount};

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

/// The nodes of a tree.
struct Tree {
    axes: *const i32,
    points: *const f32,
    children: *const i32,
}

impl Tree {
    /// Position minus the node's point.
    #[inline(always)]
    unsafe fn offset(&self, node: i32, x: f32, y: f32) -> (f32, f32) {
        let point = unsafe { self.points.offset(2 * node as isize) };
        unsafe { (x - *point, y - *point.add(1)) }
    }

    /// Whether the position is on the right child's side.
    #[inline(always)]
    unsafe fn is_right(&self, node: i32, (dx, dy): (f32, f32)) -> bool {
        let beyond = if unsafe { *self.axes.offset(node as isize) } == 0 { dx } else { dy };
        beyond > 0.0
    }

    /// The left child (0) or the right one (1).
    #[inline(always)]
    unsafe fn child(&self, node: i32, right: bool) -> i32 {
        unsafe { *self.children.offset((2 * node + right as i32) as isize) }
    }

    /// The last node on the way down that is on the way of all lanes.
    #[inline(always)]
    unsafe fn descend_together(&self, x: f32, y: f32) -> i32 {
        let mut node = 0;
        loop {
            let rights = unsafe { warpline_popcount(self.is_right(node, self.offset(node, x, y))) };
            let next = unsafe { self.child(node, rights > 0) };
            if rights != 0 && rights != warpline_popcount(true) || next == 0 {
                return node;
            }
            node = next;
        }
    }

    /// The nearest of the nodes on the way down from a node.
    #[inline(always)]
    unsafe fn descend(&self, mut node: i32, x: f32, y: f32) -> Nearest {
        let mut nearest = Nearest { node, distance: f32::INFINITY };
        loop {
            let (dx, dy) = unsafe { self.offset(node, x, y) };
            nearest.offer(node, dx * dx + dy * dy);
            node = unsafe { self.child(node, self.is_right(node, (dx, dy))) };
            if node == 0 {
                return nearest;
            }
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
pub unsafe extern "C" fn nn(
    _i: i32,
    x: f32,
    y: f32,
    axes: *const i32,
    boxes: *const f32,
    points: *const f32,
    children: *const i32,
) -> i32 {
    let tree = Tree { axes, points, children };
    let mut nearest = Nearest { node: 0, distance: f32::INFINITY };
    if warpline_lane_count() > 1 {
        nearest = unsafe { tree.descend(tree.descend_together(x, y), x, y) };
    }
    let mut stack = [0i32; STACK];
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
            let (dx, dy) = tree.offset(node, x, y);
            nearest.offer(node, dx * dx + dy * dy);
            let (left, right) = (tree.child(node, false), tree.child(node, true));
            if right > 0 {
                let right_first =
                    2 * warpline_popcount(tree.is_right(node, (dx, dy))) > warpline_popcount(true);
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
