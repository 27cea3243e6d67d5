//! The triangle that each pixel shows, one ray per lane through a hierarchy of boxes.
//!
//! Shows: a uniform traversal of lanes that mostly agree. The stack is the same for all lanes, and a box is opened if
//! *any* of them may find something nearer in it, so the branches on nodes and the loop over a leaf's triangles are
//! uniform; whether a lane wants the box and what it hits are divergent. Lanes are pixels of tiles of 4 by 4, which
//! look at the same things.
//!
//! `rays` is the same with a stack for each lane, as a program for one ray has it. Nothing in it is uniform; that
//! lanes mostly agree is found out while they run.
//!
//! Of two boxes the one that is nearer to the eye as the picture's middle sees it comes first. This is the same for
//! all rays, so that each finds what it would find alone. The ray is tested against triangles as in Möller and
//! Trumbore: Fast, Minimum Storage Ray/Triangle Intersection, 1997.

use warpline_lanes::*;

/// Pixels in a row of the picture, as a power of two.
const WIDTH: u32 = 8;

/// The smaller number.
fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The greater number.
fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// A ray, and what is found on it.
struct Ray {
    origin: [f32; 3],
    direction: [f32; 3],
    inverse: [f32; 3],
    nearest: f32,
    hit: i32,
}

impl Ray {
    /// The ray through a pixel.
    unsafe fn through(i: i32, camera: *const f32) -> Ray {
        let (tile, within) = (i as u32 >> 4, i as u32 & 15);
        let across = ((tile & ((1 << (WIDTH - 2)) - 1)) * 4 + (within & 3)) as i32 as f32;
        let down = ((tile >> (WIDTH - 2)) * 4 + (within >> 2)) as i32 as f32;
        let view = |k: usize| unsafe { *camera.add(k) };
        let towards = |k: usize| view(3 + k) + across * view(6 + k) + down * view(9 + k);
        let (dx, dy, dz) = (towards(0), towards(1), towards(2));
        Ray {
            origin: [view(0), view(1), view(2)],
            direction: [dx, dy, dz],
            inverse: [1.0 / dx, 1.0 / dy, 1.0 / dz],
            nearest: f32::INFINITY,
            hit: -1,
        }
    }

    /// Whether the ray goes through a box nearer than what has been found.
    unsafe fn enters(&self, bounds: *const f32) -> bool {
        let slab = |axis: usize| {
            let (low, high) = unsafe { (*bounds.add(axis), *bounds.add(axis + 3)) };
            let a = (low - self.origin[axis]) * self.inverse[axis];
            let b = (high - self.origin[axis]) * self.inverse[axis];
            (least(a, b), most(a, b))
        };
        let ((ax, bx), (ay, by), (az, bz)) = (slab(0), slab(1), slab(2));
        let enter = most(most(ax, ay), most(az, 0.0));
        let leave = least(least(bx, by), least(bz, self.nearest));
        enter <= leave
    }

    /// Takes triangle `k` if the ray hits it nearer than what has been found: a corner and the edges from there.
    unsafe fn meet(&mut self, triangle: *const f32, k: i32) {
        let at = |n: usize| unsafe { *triangle.add(n) };
        let [dx, dy, dz] = self.direction;
        let (e1x, e1y, e1z) = (at(3), at(4), at(5));
        let (e2x, e2y, e2z) = (at(6), at(7), at(8));
        let (px, py, pz) = (dy * e2z - dz * e2y, dz * e2x - dx * e2z, dx * e2y - dy * e2x);
        let determinant = e1x * px + e1y * py + e1z * pz;
        if determinant == 0.0 {
            return;
        }
        let inverse = 1.0 / determinant;
        let (sx, sy, sz) = (self.origin[0] - at(0), self.origin[1] - at(1), self.origin[2] - at(2));
        let u = (sx * px + sy * py + sz * pz) * inverse;
        if !(0.0..=1.0).contains(&u) {
            return;
        }
        let (qx, qy, qz) = (sy * e1z - sz * e1y, sz * e1x - sx * e1z, sx * e1y - sy * e1x);
        let v = (dx * qx + dy * qy + dz * qz) * inverse;
        if v < 0.0 || u + v > 1.0 {
            return;
        }
        let t = (e2x * qx + e2y * qy + e2z * qz) * inverse;
        if t > 0.0 && t < self.nearest {
            self.nearest = t;
            self.hit = k;
        }
    }
}

/// Whether of the two children of a node of this kind the second one is nearer to the eye, as 0 or 1.
unsafe fn is_backwards(camera: *const f32, kind: i32) -> i32 {
    i32::from(unsafe { *camera.add(12 + -kind as usize) } < 0.0)
}

/// Finds what is nearest on the ray; `opens` says whether a box is opened, given whether this ray wants it.
#[inline(always)]
unsafe fn find_nearest(
    mut ray: Ray,
    bounds: *const f32,
    first: *const i32,
    kind: *const i32,
    triangles: *const f32,
    camera: *const f32,
    opens: impl Fn(bool) -> bool,
) -> Ray {
    let mut stack = [0i32; 64];
    let mut top = 1usize;
    while top > 0 {
        top -= 1;
        let node = unsafe { *stack.get_unchecked(top) } as isize;
        let wanted = unsafe { ray.enters(bounds.offset(6 * node)) };
        if opens(wanted) {
            let (first, kind) = unsafe { (*first.offset(node), *kind.offset(node)) };
            if kind > 0 {
                let mut k = first;
                while k < first + kind {
                    if wanted {
                        unsafe { ray.meet(triangles.offset(9 * k as isize), k) };
                    }
                    k += 1;
                }
            } else {
                let backwards = unsafe { is_backwards(camera, kind) };
                unsafe {
                    *stack.get_unchecked_mut(top) = first + 1 - backwards;
                    *stack.get_unchecked_mut(top + 1) = first + backwards;
                }
                top += 2;
            }
        }
    }
    ray
}

//@ args i=index
//@ lane-insensitive

/// Returns the triangle that is nearest on the ray through pixel `i`, and writes its distance, in lengths of the
/// direction, to `distance[i]`; −1 and infinity if there is none.
///
/// `bounds` holds the lower and the upper corner of each node's box. Node `n` is a leaf with `kind[n]` triangles from
/// `first[n]` on if that is above 0, or else divided across the axis `-kind[n]` into the node `first[n]` and the next
/// one. `triangles` are a corner and the two edges from there, 9 numbers each. `camera` holds the eye, the direction
/// to the picture's upper left corner, what the direction to the next pixel to the right and the one below has more,
/// and the direction to the middle, 3 numbers each. Pixels are counted by tiles of 4 by 4 and in them by rows.
///
/// # Safety
/// The arrays are as long as that takes, and the hierarchy is at most 62 levels deep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rt(
    i: i32,
    bounds: *const f32,
    first: *const i32,
    kind: *const i32,
    triangles: *const f32,
    camera: *const f32,
    distance: *mut f32,
) -> i32 {
    unsafe {
        let ray = find_nearest(Ray::through(i, camera), bounds, first, kind, triangles, camera, |w| {
            warpline_any(w)
        });
        *distance.offset(i as isize) = ray.nearest;
        ray.hit
    }
}

//@ args i=index

/// What [`rt`] returns and writes, each lane on its own way.
///
/// # Safety
/// As for [`rt`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rays(
    i: i32,
    bounds: *const f32,
    first: *const i32,
    kind: *const i32,
    triangles: *const f32,
    camera: *const f32,
    distance: *mut f32,
) -> i32 {
    unsafe {
        let ray = find_nearest(Ray::through(i, camera), bounds, first, kind, triangles, camera, |w| w);
        *distance.offset(i as isize) = ray.nearest;
        ray.hit
    }
}
