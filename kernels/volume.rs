//! A picture of a cloud in light, one pixel per lane: rays march through a grid of densities, and from each point
//! where there is some another march towards the light says how much of it arrives.
//!
//! Shows: divergent loops in divergent loops. A ray ends where it leaves the grid, or where what is in front hides
//! what is behind; rays past the grid return at once. Samples in the empty space around the cloud skip the march
//! towards the light. Eight gathers make one sample. Lanes are pixels of tiles of 4 by 4, which see about the same.
//! What is behind how much is counted by the optical depth, so that it does not depend on the accuracy of `exp`.

//@ args i=index
//@ tolerance rel=1e-4, abs=1e-5

/// Pixels in a row of the picture, as a power of two.
const WIDTH: u32 = 8;
/// The optical depth behind which nothing is seen: less than 0.5 % of the light gets through.
const DEPTH: f32 = 5.3;
/// Steps of the march towards the light are longer by this factor.
const COARSE: f32 = 3.0;

/// The density at a point, between those of the eight grid points around it. Coordinates are those of the grid.
unsafe fn sample(grid: *const f32, size: i32, x: f32, y: f32, z: f32) -> f32 {
    let (i, j, k) =
        unsafe { (x.to_int_unchecked::<i32>(), y.to_int_unchecked::<i32>(), z.to_int_unchecked::<i32>()) };
    let (u, v, w) = (x - i as f32, y - j as f32, z - k as f32);
    // Sums of 32 bits may wrap, so that nobody could tell that corners are neighbours.
    let (corner, size) = (((k * size + j) * size + i) as isize, size as isize);
    let at = |k: isize| unsafe { *grid.offset(corner + k) };
    let mix = |t: f32, a: f32, b: f32| a + t * (b - a);
    let plane = size * size;
    let near = mix(v, mix(u, at(0), at(1)), mix(u, at(size), at(size + 1)));
    let far = mix(v, mix(u, at(plane), at(plane + 1)), mix(u, at(plane + size), at(plane + size + 1)));
    mix(w, near, far)
}

/// The optical depth from a point in the grid towards the light, as far as it matters.
unsafe fn shade(
    grid: *const f32,
    size: i32,
    from: (f32, f32, f32),
    light: (f32, f32, f32),
    step: f32,
) -> f32 {
    let end = (size - 1) as f32;
    let (mut x, mut y, mut z) = from;
    let mut depth = 0.0f32;
    while depth < DEPTH {
        (x, y, z) = (x + step * light.0, y + step * light.1, z + step * light.2);
        if x < 0.0 || y < 0.0 || z < 0.0 || x >= end || y >= end || z >= end {
            break;
        }
        depth += step * unsafe { sample(grid, size, x, y, z) };
    }
    depth
}

/// The part of a ray, by its parameter, that is between two planes across an axis.
fn between(origin: f32, direction: f32, end: f32) -> (f32, f32) {
    let inverse = 1.0 / direction;
    let (a, b) = (-origin * inverse, (end - origin) * inverse);
    if a < b { (a, b) } else { (b, a) }
}

/// The light that pixel `i` gets. `grid` holds densities per unit of length, `size` in each direction, the first
/// varying fastest; its points are a unit apart. `camera` holds the eye, the direction to the picture's upper left
/// corner, and what the direction to the next pixel to the right and the one below has more, 3 numbers each; `light`
/// the direction towards the light. Pixels are counted by tiles of 4 by 4 and in them by rows. Samples are `step`
/// times the length of a direction apart.
///
/// # Safety
/// The arrays are as long as that takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn volume(
    i: i32,
    grid: *const f32,
    size: i32,
    camera: *const f32,
    light: *const f32,
    step: f32,
) -> f32 {
    let (tile, within) = (i as u32 >> 4, i as u32 & 15);
    let column = ((tile & ((1 << (WIDTH - 2)) - 1)) * 4 + (within & 3)) as i32 as f32;
    let row = ((tile >> (WIDTH - 2)) * 4 + (within >> 2)) as i32 as f32;
    let view = |k: usize| unsafe { *camera.add(k) };
    let towards = |k: usize| view(3 + k) + column * view(6 + k) + row * view(9 + k);
    let (eye_x, eye_y, eye_z) = (view(0), view(1), view(2));
    let (dx, dy, dz) = (towards(0), towards(1), towards(2));
    let light = unsafe { (*light, *light.add(1), *light.add(2)) };
    let end = (size - 1) as f32;
    let (near_x, far_x) = between(eye_x, dx, end);
    let (near_y, far_y) = between(eye_y, dy, end);
    let (near_z, far_z) = between(eye_z, dz, end);
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let smaller = |a: f32, b: f32| if a < b { a } else { b };
    // A little within the grid, so that no rounding leads out of it.
    let mut t = larger(larger(near_x, near_y), larger(near_z, 0.0)) + 0.5 * step;
    let last = smaller(smaller(far_x, far_y), far_z) - 0.25 * step;
    if t >= last {
        return 0.0;
    }
    let length = step * (dx * dx + dy * dy + dz * dz).sqrt();
    let (mut seen, mut depth) = (0.0f32, 0.0f32);
    while t < last && depth < DEPTH {
        let (x, y, z) = (eye_x + t * dx, eye_y + t * dy, eye_z + t * dz);
        let density = unsafe { sample(grid, size, x, y, z) };
        if density > 0.0 {
            let shadow = unsafe { shade(grid, size, (x, y, z), light, COARSE * length) };
            seen += density * length * (-depth - shadow).exp();
            depth += density * length;
        }
        t += step;
    }
    seen
}
