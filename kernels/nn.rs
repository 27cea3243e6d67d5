//! Nearest neighbour in a kd-tree, one query per lane, each lane on its own way (Moll and Hack: Partial Control-Flow
//! Linearization, PLDI 2018, Sec. 7.1, `nn`; the tree: Friedman, Bentley, Finkel: An algorithm for finding best
//! matches in logarithmic expected time, 1977).
//!
//! The points are in buckets of the same size, which are the leaves of a complete binary tree. So the way to the
//! bucket that a position belongs to is as long for all lanes: this loop is uniform, and so are those that look at
//! the points of a bucket, although each lane has a bucket of its own. Where the position is nearer to the cut than
//! to the nearest point so far, there may be something nearer on the other side. Which sides to visit still is one
//! number per lane, with a bit for each level, in place of a stack. How many a lane visits, and how far down each is,
//! differs from lane to lane: these loops are divergent.
//!
//! What a lane reads of a node, a box or a bucket lies side by side.
//!
//! Compare `km.rs`, where the lanes have one stack and go together. Here, lanes with unrelated positions would follow
//! each other through very different parts of the tree: measured with 32 lanes and a point at each node, that was 0.6
//! times as fast as the scalar program, and 3 times where neighbouring lanes' positions are near each other.

use std::mem::MaybeUninit;

/// More than the depth of a tree can be.
const LEVELS: usize = 32;

/// The number of points in a bucket.
const BUCKET: i32 = 8;

/// How far `x` is outside `lo..=hi`; 0 inside. Rounding does not make it more than the distance of `x` from any
/// number in there.
#[inline(always)]
fn gap(x: f32, lo: f32, hi: f32) -> f32 {
    let (below, above) = (lo - x, x - hi);
    let gap = if below > above { below } else { above };
    if gap > 0.0 { gap } else { 0.0 }
}

/// The nearest point so far, and the square of its distance.
struct Nearest {
    point: i32,
    distance: f32,
}

impl Nearest {
    /// Takes a point if it is nearer.
    #[inline(always)]
    fn offer(&mut self, point: i32, dx: f32, dy: f32) {
        let distance = dx * dx + dy * dy;
        if distance < self.distance {
            *self = Nearest { point, distance };
        }
    }
}

/// A position, and the tree in which its neighbour is.
struct Search {
    x: f32,
    y: f32,
    cuts: *const f32,
    boxes: *const f32,
    points: *const f32,
}

impl Search {
    /// How far the position is beyond the node's cut: on the right side, if it is more than 0.
    #[inline(always)]
    unsafe fn beyond(&self, node: i32) -> f32 {
        let cut = unsafe { self.cuts.offset(2 * node as isize) };
        let (at, axis) = unsafe { (*cut, *cut.add(1)) };
        (if axis == 0.0 { self.x } else { self.y }) - at
    }

    /// The square of the distance from the node's box.
    #[inline(always)]
    unsafe fn distance(&self, node: i32) -> f32 {
        let bounds = unsafe { self.boxes.offset(4 * node as isize) };
        let (lo, hi) = unsafe { ([*bounds, *bounds.add(1)], [*bounds.add(2), *bounds.add(3)]) };
        let (gap_x, gap_y) = (gap(self.x, lo[0], hi[0]), gap(self.y, lo[1], hi[1]));
        gap_x * gap_x + gap_y * gap_y
    }

    /// Takes the nearest point of a bucket, if it is nearer. Two points are what a lane can load at once.
    #[inline(always)]
    unsafe fn offer(&self, bucket: i32, nearest: &mut Nearest) {
        for pair in 0..BUCKET / 2 {
            let first = BUCKET * bucket + 2 * pair;
            let at = unsafe { self.points.offset(2 * first as isize) };
            let [x0, y0, x1, y1] = unsafe { [*at, *at.add(1), *at.add(2), *at.add(3)] };
            nearest.offer(first, self.x - x0, self.y - y0);
            nearest.offer(first + 1, self.x - x1, self.y - y1);
        }
    }
}

//@ args _i=index, x=varying, y=varying
//@ width 32

/// Returns the number of the point that is nearest to (`x`, `y`), or of one of several.
///
/// The tree is `depth` nodes deep; the root is node 1, and the children of node `k` are `2 * k`, on the left, and
/// `2 * k + 1`. On the axis `cuts[2 * k + 1]` (x is 0, y is 1), `cuts[2 * k]` is between them. What is below the node
/// lies in the box `boxes[4 * k..]`: least x, least y, greatest x, greatest y. Below `depth` nodes is bucket
/// `k - (1 << depth)` in the place of node `k`; the first point of a bucket `b` is number `BUCKET * b`. Point `p` is
/// at (`points[2 * p]`, `points[2 * p + 1]`).
///
/// # Safety
/// The arrays have that many elements, and `depth` is less than `LEVELS`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nn(
    _i: i32,
    x: f32,
    y: f32,
    depth: i32,
    cuts: *const f32,
    boxes: *const f32,
    points: *const f32,
) -> i32 {
    let search = Search { x, y, cuts, boxes, points };
    let buckets = 1 << depth;
    let mut nearest = Nearest { point: 0, distance: f32::INFINITY };
    let mut node = 1;
    let mut others = 0u32;
    let mut margins = [MaybeUninit::<f32>::uninit(); LEVELS];
    unsafe {
        for level in 0..depth as usize {
            let beyond = search.beyond(node);
            margins.get_unchecked_mut(level).write(beyond * beyond);
            node = 2 * node + (beyond > 0.0) as i32;
        }
        search.offer(node - buckets, &mut nearest);
        for level in 0..depth as usize {
            let margin = margins.get_unchecked(level).assume_init();
            others = 2 * others + (margin < nearest.distance) as u32;
        }
        loop {
            loop {
                if others == 0 {
                    return nearest.point;
                }
                let up = others.trailing_zeros();
                node = (node >> up) ^ 1;
                others = (others >> up) ^ 1;
                if search.distance(node) < nearest.distance {
                    break;
                }
            }
            while node < buckets {
                let beyond = search.beyond(node);
                others = 2 * others + (beyond * beyond < nearest.distance) as u32;
                node = 2 * node + (beyond > 0.0) as i32;
            }
            search.offer(node - buckets, &mut nearest);
        }
    }
}
