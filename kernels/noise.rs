//! A picture of turbulence: Perlin's noise in several octaves, one point per lane (Perlin: Improving Noise, SIGGRAPH
//! 2002).
//!
//! Shows: control flow that no lane parts from, and gathers. The loop over octaves is uniform, and what depends on
//! the lane is chosen by selects; but each lane looks up hashes of its own in the permutation table.

//@ args i=index

/// Points in a row of the picture.
const WIDTH: u32 = 512;

/// `3 t² − 2 t³` with zero second derivatives at both ends.
fn fade(t: f32) -> f32 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

/// The point between `a` and `b` that `t` says.
fn mix(t: f32, a: f32, b: f32) -> f32 {
    a + t * (b - a)
}

/// The product of a vector with one of twelve gradients, which point to the middles of the edges of a cube.
fn gradient(hash: i32, x: f32, y: f32, z: f32) -> f32 {
    let h = hash & 15;
    let u = if h < 8 { x } else { y };
    // 12 and 14 repeat the gradients of 0 and 1.
    let v = if h < 4 {
        y
    } else if h & 13 == 12 {
        x
    } else {
        z
    };
    (if h & 1 == 0 { u } else { -u }) + (if h & 2 == 0 { v } else { -v })
}

/// Noise at a point, in −1..1. `permutation` holds the numbers 0..256 in some order, twice.
///
/// # Safety
/// `permutation` has 512 elements, all in 0..256; coordinates are small enough to be `i32`.
unsafe fn noise_at(x: f32, y: f32, z: f32, permutation: *const i32) -> f32 {
    // Sums of 32 bits may wrap, so that nobody could tell that `a` and `a + 1` are neighbours.
    let hash = |k: isize| unsafe { *permutation.offset(k) };
    let (floor_x, floor_y, floor_z) = (x.floor(), y.floor(), z.floor());
    let (cell_x, cell_y, cell_z) = unsafe {
        (
            (floor_x.to_int_unchecked::<i32>() & 255) as isize,
            (floor_y.to_int_unchecked::<i32>() & 255) as isize,
            (floor_z.to_int_unchecked::<i32>() & 255) as isize,
        )
    };
    let (x, y, z) = (x - floor_x, y - floor_y, z - floor_z);
    let (u, v, w) = (fade(x), fade(y), fade(z));
    let a = hash(cell_x) as isize + cell_y;
    let (aa, ab) = (hash(a) as isize + cell_z, hash(a + 1) as isize + cell_z);
    let b = hash(cell_x + 1) as isize + cell_y;
    let (ba, bb) = (hash(b) as isize + cell_z, hash(b + 1) as isize + cell_z);
    let near = mix(
        v,
        mix(u, gradient(hash(aa), x, y, z), gradient(hash(ba), x - 1.0, y, z)),
        mix(u, gradient(hash(ab), x, y - 1.0, z), gradient(hash(bb), x - 1.0, y - 1.0, z)),
    );
    let z = z - 1.0;
    let far = mix(
        v,
        mix(u, gradient(hash(aa + 1), x, y, z), gradient(hash(ba + 1), x - 1.0, y, z)),
        mix(u, gradient(hash(ab + 1), x, y - 1.0, z), gradient(hash(bb + 1), x - 1.0, y - 1.0, z)),
    );
    mix(w, near, far)
}

/// The turbulence at point `i` of a picture: the sum of `octaves` absolute values of noise, each of twice the
/// frequency and half the weight of the one before. The picture is in the plane `depth`, has its first point at
/// `left`, `top`, and the next points to the right and below are `step_x` and `step_y` away. Rows are `WIDTH` long.
///
/// # Safety
/// `permutation` holds the numbers 0..256 in some order, twice; coordinates are small enough to be `i32` in the last
/// octave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn noise(
    i: i32,
    permutation: *const i32,
    octaves: i32,
    left: f32,
    top: f32,
    depth: f32,
    step_x: f32,
    step_y: f32,
) -> f32 {
    let (column, row) = (i as u32 % WIDTH, i as u32 / WIDTH);
    let x = left + column as i32 as f32 * step_x;
    let y = top + row as i32 as f32 * step_y;
    let (mut sum, mut frequency, mut weight) = (0.0f32, 1.0f32, 1.0f32);
    let mut octave = 0;
    while octave < octaves {
        sum +=
            weight * unsafe { noise_at(x * frequency, y * frequency, depth * frequency, permutation) }.abs();
        frequency *= 2.0;
        weight *= 0.5;
        octave += 1;
    }
    sum
}
