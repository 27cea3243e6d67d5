//! Nearest neighbour in a vantage-point tree, one query per lane, each lane on its own way (Moll and Hack: Partial
//! Control-Flow Linearization, PLDI 2018, Sec. 7.1, `vp`; the tree: Yianilos: Data structures and algorithms for
//! nearest neighbor search in general metric spaces, 1993, with buckets).
//!
//! Each node has a vantage point; below it are the points near that one on one side and those far from it on the
//! other, and in the end buckets of the same size, all as deep as each other. So the way to the bucket that a
//! position belongs to is as long for all lanes: this loop is uniform, and so are those that look at the points of a
//! bucket, although each lane has a bucket of its own. Where the position is nearer to the points of the other side
//! than to the nearest point so far, judged by the distance from the vantage point, there may be something nearer.
//! Which sides to visit still is one number per lane, with a bit for each level, in place of a stack. How many a lane
//! visits, and how far down each is, differs from lane to lane: these loops are divergent.
//!
//! What a lane reads of a node or a bucket lies side by side.

use std::mem::MaybeUninit;

/// More than the depth of a tree can be.
const LEVELS: usize = 32;

/// The number of points in a bucket.
const BUCKET: i32 = 8;

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
    nodes: *const f32,
    points: *const f32,
}

/// On which side of a node a position is, and the square of how far it is at least from anything on the other side.
struct Side {
    is_outside: bool,
    margin: f32,
}

impl Search {
    #[inline(always)]
    unsafe fn side(&self, node: i32) -> Side {
        let node = unsafe { self.nodes.offset(4 * node as isize) };
        let (x, y, inside, outside) = unsafe { (*node, *node.add(1), *node.add(2), *node.add(3)) };
        let (dx, dy) = (self.x - x, self.y - y);
        let distance = (dx * dx + dy * dy).sqrt();
        let is_outside = distance > inside;
        let margin = if is_outside { distance - inside } else { outside - distance };
        let margin = if margin > 0.0 { margin } else { 0.0 };
        Side { is_outside, margin: margin * margin }
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
/// The tree is `depth` nodes deep; the root is node 1, and the children of node `k` are `2 * k`, inside, and
/// `2 * k + 1`, outside. Its vantage point is (`nodes[4 * k]`, `nodes[4 * k + 1]`); the points inside are not farther
/// from it than `nodes[4 * k + 2]`, and those outside not nearer than `nodes[4 * k + 3]`, both with enough to spare
/// that rounding does not matter. Below `depth` nodes is bucket `k - (1 << depth)` in the place of node `k`; the
/// first point of a bucket `b` is number `BUCKET * b`. Point `p` is at (`points[2 * p]`, `points[2 * p + 1]`).
///
/// # Safety
/// The arrays have that many elements, and `depth` is less than `LEVELS`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vp(
    _i: i32,
    x: f32,
    y: f32,
    depth: i32,
    nodes: *const f32,
    points: *const f32,
) -> i32 {
    let search = Search { x, y, nodes, points };
    let buckets = 1 << depth;
    let mut nearest = Nearest { point: 0, distance: f32::INFINITY };
    let mut node = 1;
    let mut others = 0u32;
    let mut margins = [MaybeUninit::<f32>::uninit(); LEVELS];
    unsafe {
        for level in 0..depth as usize {
            let side = search.side(node);
            margins.get_unchecked_mut(level).write(side.margin);
            node = 2 * node + side.is_outside as i32;
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
                if search.side(node >> 1).margin < nearest.distance {
                    break;
                }
            }
            while node < buckets {
                let side = search.side(node);
                others = 2 * others + (side.margin < nearest.distance) as u32;
                node = 2 * node + side.is_outside as i32;
            }
            search.offer(node - buckets, &mut nearest);
        }
    }
}
