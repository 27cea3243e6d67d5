//! Point correlation: how many points lie within a radius of a position, one query per lane (Moll and Hack: Partial
//! Control-Flow Linearization, PLDI 2018, Sec. 7.1, `pc` and `mpc`).
//!
//! The points are the nodes of a kd-tree, each with the bounding box of its subtree. The stack of nodes to visit is
//! the same for all lanes: a subtree is visited if *any* lane's circle reaches its box. So the loop and its branches
//! are uniform; whether a point lies within the circle differs from lane to lane, and is one addition.
//!
//! With varying positions and one radius, this is `pc`. With one position and varying radii, it is `mpc` (Gray and
//! Moore: “N-body” problems in statistical learning, 2001): what depends on the position and the node alone is then
//! computed once for all lanes, and only the two comparisons with the square of the radius are of vectors.

use warpline_lanes::warpline_any;

/// More than the depth of a balanced tree can be.
const STACK: usize = 64;

/// How far `x` is outside `lo..=hi`; 0 inside. Rounding does not make it more than the distance of `x` from any
/// number in there.
#[inline(always)]
fn gap(x: f32, lo: f32, hi: f32) -> f32 {
    let (below, above) = (lo - x, x - hi);
    let gap = if below > above { below } else { above };
    if gap > 0.0 { gap } else { 0.0 }
}

//@ args _i=index, x=varying, y=varying

/// Returns how many points are not farther from (`x`, `y`) than `radius`.
///
/// Node `k` is the point (`points[2 * k]`, `points[2 * k + 1]`). Its subtree lies in the box `boxes[4 * k..]`: least
/// x, least y, greatest x, greatest y. Its children are `children[2 * k]` and `children[2 * k + 1]`, or 0 for none.
/// The root is node 0.
///
/// # Safety
/// The arrays have that many elements, and the tree is less than `STACK` nodes deep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pc(
    _i: i32,
    x: f32,
    y: f32,
    radius: f32,
    boxes: *const f32,
    points: *const f32,
    children: *const i32,
) -> i32 {
    let reach = radius * radius;
    let mut stack = [0i32; STACK];
    let mut top = 1;
    let mut count = 0;
    while top > 0 {
        top -= 1;
        unsafe {
            let node = *stack.get_unchecked(top) as isize;
            let bounds = boxes.offset(4 * node);
            let (gap_x, gap_y) = (gap(x, *bounds, *bounds.add(2)), gap(y, *bounds.add(1), *bounds.add(3)));
            if !warpline_any(gap_x * gap_x + gap_y * gap_y <= reach) {
                continue;
            }
            let point = points.offset(2 * node);
            let (dx, dy) = (*point - x, *point.add(1) - y);
            if dx * dx + dy * dy <= reach {
                count += 1;
            }
            let (left, right) = (*children.offset(2 * node), *children.offset(2 * node + 1));
            if right > 0 {
                *stack.get_unchecked_mut(top) = right;
                top += 1;
            }
            if left > 0 {
                *stack.get_unchecked_mut(top) = left;
                top += 1;
            }
        }
    }
    count
}
