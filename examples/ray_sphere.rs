//! Rays against a set of spheres, one ray per lane.
//!
//! Shows: nested ifs and early returns in a uniform loop. A ray that starts inside a sphere returns at once, as the others
//! go on; most spheres are missed by all lanes of a group.

const SPHERES: usize = 32;

//@ args i=index
//@ range 0..65536
//@ bind direction_x=f32[65536]=-0.6..0.6
//@ bind direction_y=f32[65536]=-0.6..0.6
//@ bind centers=f32[96]=-4..4
//@ bind radii=f32[32]=0.1..1.5
//@ bind nearest=f32[65536]

/// Returns the number of the sphere that ray `i` from the origin hits first and writes the distance to `nearest[i]`; −1 and
/// infinity if it hits none; the sphere's number and 0 if the origin is in a sphere.
///
/// # Safety
/// `i` is an index of the directions and of `nearest`; there are `SPHERES` spheres with 3 coordinates each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ray_sphere(
    i: i32,
    direction_x: *const f32,
    direction_y: *const f32,
    centers: *const f32,
    radii: *const f32,
    nearest: *mut f32,
) -> i32 {
    let at = i as isize;
    let (dx, dy) = unsafe { (*direction_x.offset(at), *direction_y.offset(at)) };
    let length = (dx * dx + dy * dy + 1.0).sqrt();
    let (dx, dy, dz) = (dx / length, dy / length, 1.0 / length);
    let mut best = f32::INFINITY;
    let mut hit = -1;
    let mut k = 0;
    while k < SPHERES {
        let (cx, cy, cz, r) = unsafe {
            (*centers.add(3 * k), *centers.add(3 * k + 1), *centers.add(3 * k + 2) + 4.0, *radii.add(k))
        };
        let b = dx * cx + dy * cy + dz * cz;
        let c = cx * cx + cy * cy + cz * cz - r * r;
        if c < 0.0 && b < 0.9 * r {
            unsafe { *nearest.offset(at) = 0.0 };
            return k as i32;
        }
        let discriminant = b * b - c;
        if discriminant > 0.0 {
            let root = discriminant.sqrt();
            let t = if b > root { b - root } else { b + root };
            if t > 0.0 && t < best {
                best = t;
                hit = k as i32;
            }
        }
        k += 1;
    }
    unsafe { *nearest.offset(at) = best };
    hit
}
