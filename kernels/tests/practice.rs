//! Kernels from the practice of SPMD programming against plain programs.

#[path = "../ao.rs"]
mod ao;
#[path = "../binomial.rs"]
mod binomial;
#[path = "../black_scholes.rs"]
mod black_scholes;
mod inputs;
#[path = "../mandelbrot.rs"]
mod mandelbrot;
#[path = "../noise.rs"]
mod noise;
#[path = "../rt.rs"]
mod rt;
#[path = "../stencil.rs"]
mod stencil;
#[path = "../volume.rs"]
mod volume;

use inputs::{f32s, float, i32s, indices, int, small};

/// Whether two numbers are that near each other.
fn near(a: f64, b: f64, by: f64) -> bool {
    (a - b).abs() <= by
}

/// Iterations until a point leaves, in arithmetic of twice the precision.
fn escape(cx: f64, cy: f64) -> i32 {
    let (mut x, mut y) = (0.0, 0.0);
    for n in 0..256 {
        if f64::hypot(x, y) > 2.0 {
            return n;
        }
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
    }
    256
}

#[test]
fn points_leave_mandelbrot_s_set_when_they_do_in_greater_precision() {
    let data = small("mandelbrot", 0);
    let view: Vec<f64> = (0..4).map(|k| float(&data, k)).collect();
    let mut other = 0;
    for i in indices(&data) {
        let n = unsafe {
            mandelbrot::mandelbrot(i, view[0] as f32, view[1] as f32, view[2] as f32, view[3] as f32)
        };
        let (x, y) = (view[0] + f64::from(i % 512) * view[2], view[1] + f64::from(i / 512) * view[3]);
        other += i32::from(n != escape(x, y));
        let (bulb, q) = (f64::hypot(x + 1.0, y), (x - 0.25).powi(2) + y * y);
        let cardioid = q * (q + x - 0.25) - y * y / 4.0;
        assert!(n == 256 || (bulb > 0.25 && cardioid > 0.0), "{x} + {y}i is in the set, left after {n}");
    }
    assert!(other * 50 < data.range.1 as i32, "{other} leave at another time");
}

/// The standard normal distribution function, by Simpson's rule.
fn normal(x: f64) -> f64 {
    let density = |t: f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
    let step = x / 200.0;
    let inner = (1..200).map(|k| f64::from(2 + 2 * (k % 2)) * density(f64::from(k) * step)).sum::<f64>();
    0.5 + step / 3.0 * (density(0.0) + inner + density(x))
}

/// Price, strike, years, rate and volatility of option `i`.
fn option(arrays: &[Vec<f32>], i: i32) -> [f64; 5] {
    std::array::from_fn(|k| f64::from(arrays[k][i as usize]))
}

#[test]
fn options_cost_what_the_formula_says_with_an_integrated_distribution() {
    let data = small("black_scholes", 0);
    let a: Vec<Vec<f32>> = (0..5).map(|k| f32s(&data, k)).collect();
    let [s, x, t, r, v] = std::array::from_fn(|k| a[k].as_ptr());
    for i in indices(&data) {
        let found = unsafe { black_scholes::black_scholes(i, s, x, t, r, v) };
        let [s, x, t, r, v] = option(&a, i);
        let d1 = ((s / x).ln() + (r + v * v / 2.0) * t) / (v * t.sqrt());
        let expected = s * normal(d1) - x * (-r * t).exp() * normal(d1 - v * t.sqrt());
        assert!(near(found.into(), expected, 2e-4), "option {i}: {found}, not {expected}");
    }
}

#[test]
fn options_cost_what_is_expected_over_the_ends_of_the_tree() {
    let data = small("binomial", 0);
    let a: Vec<Vec<f32>> = (0..5).map(|k| f32s(&data, k)).collect();
    let [s, x, t, r, v] = std::array::from_fn(|k| a[k].as_ptr());
    for i in indices(&data) {
        let found = unsafe { binomial::binomial(i, s, x, t, r, v) };
        let [s, x, t, r, v] = option(&a, i);
        let up = (v * (t / 63.0).sqrt()).exp();
        let p = ((r * t / 63.0).exp() - 1.0 / up) / (up - 1.0 / up);
        let (mut ways, mut expected) = (1.0, 0.0);
        for rises in 0..64 {
            let end = s * up.powi(2 * rises - 63) - x;
            expected += ways * p.powi(rises) * (1.0 - p).powi(63 - rises) * f64::max(end, 0.0);
            ways *= f64::from(63 - rises) / f64::from(rises + 1);
        }
        expected *= (-r * t).exp();
        assert!(near(found.into(), expected, 2e-3), "option {i}: {found}, not {expected}");
    }
}

/// Where the gradients of the 16 hashes point, as Perlin lists them.
const GRADIENTS: [[f64; 3]; 16] = [
    [1.0, 1.0, 0.0],
    [-1.0, 1.0, 0.0],
    [1.0, -1.0, 0.0],
    [-1.0, -1.0, 0.0],
    [1.0, 0.0, 1.0],
    [-1.0, 0.0, 1.0],
    [1.0, 0.0, -1.0],
    [-1.0, 0.0, -1.0],
    [0.0, 1.0, 1.0],
    [0.0, -1.0, 1.0],
    [0.0, 1.0, -1.0],
    [0.0, -1.0, -1.0],
    [1.0, 1.0, 0.0],
    [0.0, -1.0, 1.0],
    [-1.0, 1.0, 0.0],
    [0.0, -1.0, -1.0],
];

/// Noise as a sum over the corners of the cell.
fn noise_at(point: [f64; 3], permutation: &[i32]) -> f64 {
    let mut sum = 0.0;
    for corner in 0..8 {
        let (mut hash, mut weight, mut product) = (0, 1.0, [0.0; 3]);
        for axis in 0..3 {
            let lattice = point[axis].floor() + f64::from(corner >> axis & 1);
            let distance = point[axis] - lattice;
            let t = 1.0 - distance.abs();
            weight *= 6.0 * t.powi(5) - 15.0 * t.powi(4) + 10.0 * t.powi(3);
            hash = permutation[(hash + lattice as i64).rem_euclid(256) as usize].into();
            product[axis] = distance;
        }
        let gradient = GRADIENTS[hash as usize % 16];
        sum += weight * (0..3).map(|axis| gradient[axis] * product[axis]).sum::<f64>();
    }
    sum
}

#[test]
fn turbulence_is_a_sum_over_corners_of_cells() {
    let data = small("noise", 0);
    let permutation = i32s(&data, 0);
    let octaves = int(&data, 1);
    let [x0, y0, z, dx, dy] = std::array::from_fn(|k| float(&data, 2 + k));
    for i in indices(&data) {
        let (x, y) = (x0 + f64::from(i % 512) * dx, y0 + f64::from(i / 512) * dy);
        let at = |scale: f64| noise_at([x * scale, y * scale, z * scale], &permutation);
        let expected: f64 = (0..octaves).map(|k| at(2f64.powi(k)).abs() / 2f64.powi(k)).sum();
        let p = permutation.as_ptr();
        let found =
            unsafe { noise::noise(i, p, octaves, x0 as f32, y0 as f32, z as f32, dx as f32, dy as f32) };
        assert!(near(found.into(), expected, 1e-3), "point {i}: {found}, not {expected}");
    }
}

#[test]
fn a_step_of_the_wave_is_that_of_its_neighbours() {
    let data = small("stencil", 0);
    let (row, plane) = (int(&data, 0), int(&data, 1));
    let [w, speed, now, before, mut next] = std::array::from_fn(|k| f32s(&data, 2 + k));
    for i in indices(&data) {
        let (w, s, n, b) = (w.as_ptr(), speed.as_ptr(), now.as_ptr(), before.as_ptr());
        unsafe { stencil::stencil(i, row, plane, w, s, n, b, next.as_mut_ptr()) };
    }
    for i in indices(&data) {
        let at = |k: i32| f64::from(now[(i + k) as usize]);
        let mut laplacian = 0.0;
        for step in [1, row, plane] {
            let weights = (-4i32..=4).map(|k| (k, f64::from(w[k.unsigned_abs() as usize])));
            laplacian += weights.map(|(k, w)| w * at(k * step)).sum::<f64>();
        }
        let i = i as usize;
        let expected = 2.0 * f64::from(now[i]) - f64::from(before[i]) + f64::from(speed[i]) * laplacian;
        assert!(near(next[i].into(), expected, 1e-5), "point {i}: {}, not {expected}", next[i]);
    }
    assert!(next[..4 * plane as usize].iter().all(|x| *x == 0.0), "planes without neighbours are left alone");
}

#[test]
fn the_stencil_s_second_derivative_of_a_square_is_two() {
    let data = small("stencil", 0);
    let (row, plane) = (int(&data, 0), int(&data, 1));
    let weights = f32s(&data, 2);
    // A parabola across the row, the same in all rows.
    let square: Vec<f32> = (0..9 * plane).map(|i| ((i % row - row / 2) as f32 / 8.0).powi(2)).collect();
    let ones = vec![1.0; square.len()];
    let mut next = vec![0.0; square.len()];
    let i = 4 * plane + row + row / 2 + 3;
    unsafe {
        let (ones, square) = (ones.as_ptr(), square.as_ptr());
        stencil::stencil(i, row, plane, weights.as_ptr(), ones, square, square, next.as_mut_ptr());
    }
    let second = (next[i as usize] - square[i as usize]) * 64.0;
    assert!(near(second.into(), 2.0, 1e-4), "{second}");
}

type Vector = [f64; 3];

fn dot(a: Vector, b: Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn along(a: Vector, t: f64, b: Vector) -> Vector {
    std::array::from_fn(|k| a[k] + t * b[k])
}

fn cross(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|k| a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3])
}

/// How far it is from a point outside to a sphere in a direction of length 1: by the point of the ray that is nearest
/// to the center.
fn to_sphere(origin: Vector, direction: Vector, sphere: &[f32]) -> Option<f64> {
    let to = std::array::from_fn(|k| f64::from(sphere[k]) - origin[k]);
    let middle = dot(to, direction);
    let chord = f64::from(sphere[3]).powi(2) - dot(to, to) + middle * middle;
    (middle > 0.0 && chord > 0.0).then(|| middle - chord.sqrt())
}

/// The nearest thing of spheres and a plane in a direction of length 1: how far away it is, and its normal.
fn seen(direction: Vector, spheres: &[f32], plane: f64) -> Option<(f64, Vector)> {
    let floor = (direction[1] < 0.0).then(|| (plane / direction[1], [0.0, 1.0, 0.0]));
    let balls = spheres.chunks(4).filter_map(|sphere| {
        let t = to_sphere([0.0; 3], direction, sphere)?;
        let radius = f64::from(sphere[3]);
        Some((t, std::array::from_fn(|k| (t * direction[k] - f64::from(sphere[k])) / radius)))
    });
    balls.chain(floor).min_by(|a, b| a.0.total_cmp(&b.0))
}

/// The part of the hemisphere above a point that is open, weighted by the cosine, by a sum over a grid of directions.
fn open(point: Vector, normal: Vector, spheres: &[f32], plane: f64) -> f64 {
    let axis = if normal[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let side = cross(normal, axis);
    let side = side.map(|x| x / dot(side, side).sqrt());
    let front = cross(normal, side);
    let origin = along(point, 1e-3, normal);
    let free = (0..1024).filter(|k| {
        let square = (f64::from(k / 32) + 0.5) / 32.0;
        let (sine, cosine) = ((f64::from(k % 32) + 0.5) / 32.0 * std::f64::consts::TAU).sin_cos();
        let flat = along([0.0; 3], square.sqrt() * cosine, side);
        let direction = along(along(flat, square.sqrt() * sine, front), (1.0 - square).sqrt(), normal);
        let below = (plane - origin[1]) * direction[1] > 0.0;
        !below && spheres.chunks(4).all(|sphere| to_sphere(origin, direction, sphere).is_none())
    });
    free.count() as f64 / 1024.0
}

#[test]
fn as_much_light_arrives_as_in_a_sum_over_the_hemisphere() {
    let data = small("ao", 0);
    let spheres = f32s(&data, 0);
    let samples = int(&data, 2);
    let [plane, left, top, dx, dy] = [1, 3, 4, 5, 6].map(|k| float(&data, k));
    let (mut errors, mut hits, mut borders) = (0.0, 0.0, 0);
    for i in indices(&data) {
        let s = spheres.as_ptr();
        let found =
            unsafe { ao::ao(i, s, plane as f32, samples, left as f32, top as f32, dx as f32, dy as f32) };
        let direction = [left + f64::from(i % 256) * dx, top + f64::from(i / 256) * dy, -1.0];
        let direction = direction.map(|x| x / dot(direction, direction).sqrt());
        let Some((t, normal)) = seen(direction, &spheres, plane) else {
            borders += i32::from(found != 0.0);
            continue;
        };
        let expected = open(along([0.0; 3], t, direction), normal, &spheres, plane);
        // 64 directions at random have a standard deviation of at most 1/16.
        assert!(near(found.into(), expected, 5.0 / 16.0), "pixel {i}: {found}, not {expected}");
        errors += f64::from(found) - expected;
        hits += 1.0;
    }
    assert!(hits > 300.0 && borders < 3, "{hits} hits, {borders} where there should be none");
    assert!(near(errors / hits, 0.0, 0.01), "on the average {} too much", errors / hits);
}

/// Where pixel `i` of a picture of 256 columns is that is made of tiles of 4 by 4.
fn pixel(i: i32) -> (f64, f64) {
    let (tile, within) = (i / 16, i % 16);
    (f64::from(tile % 64 * 4 + within % 4), f64::from(tile / 64 * 4 + within / 4))
}

/// A density, as a weighted sum over the corners of the cell.
fn density(grid: &[f32], size: usize, point: Vector) -> f64 {
    let corner = |k: usize| {
        let bits = [k & 1, k >> 1 & 1, k >> 2];
        let at: [usize; 3] = std::array::from_fn(|axis| point[axis].floor() as usize + bits[axis]);
        let weight = |axis: usize| 1.0 - (point[axis] - at[axis] as f64).abs();
        f64::from(grid[(at[2] * size + at[1]) * size + at[0]]) * weight(0) * weight(1) * weight(2)
    };
    (0..8).map(corner).sum()
}

#[test]
fn a_cloud_is_as_bright_as_if_rays_never_ended_early() {
    let data = small("volume", 0);
    let grid = f32s(&data, 0);
    let size = int(&data, 1);
    let (camera, light, step) = (f32s(&data, 2), f32s(&data, 3), float(&data, 4));
    let vector = |from: &[f32]| -> Vector { std::array::from_fn(|k| from[k].into()) };
    let (eye, sun) = (vector(&camera), vector(&light));
    let end = f64::from(size - 1);
    let inside = |point: Vector| point.iter().all(|x| (0.0..end).contains(x));
    let density = |point| density(&grid, size as usize, point);
    let (mut brightest, mut dark) = (0.0f32, 0);
    for i in indices(&data) {
        let found =
            unsafe { volume::volume(i, grid.as_ptr(), size, camera.as_ptr(), light.as_ptr(), step as f32) };
        let (x, y) = pixel(i);
        let next = along(vector(&camera[3..]), x, vector(&camera[6..]));
        let direction = along(next, y, vector(&camera[9..]));
        let length = step * dot(direction, direction).sqrt();
        // The ray enters where the last of three pairs of planes is passed.
        let planes = (0..3).map(|k| f64::min((0.0 - eye[k]) / direction[k], (end - eye[k]) / direction[k]));
        let enter = planes.fold(0.0, f64::max);
        let (mut expected, mut depth) = (0.0, 0.0);
        for k in 0..10_000 {
            let point = along(eye, enter + (f64::from(k) + 0.5) * step, direction);
            if !inside(point) {
                break;
            }
            let towards = (1..10_000).map(|n| along(point, 3.0 * length * f64::from(n), sun));
            let shadow = 3.0 * length * towards.take_while(|p| inside(*p)).map(density).sum::<f64>();
            expected += density(point) * length * (-depth - shadow).exp();
            depth += density(point) * length;
        }
        assert!(near(found.into(), expected, 0.01), "pixel {i}: {found}, not {expected}");
        brightest = brightest.max(found);
        dark += i32::from(found == 0.0);
    }
    assert!(brightest > 0.5 && dark > 100, "{brightest}, {dark} dark pixels");
}

/// How far a triangle is along a ray: where the ray meets the plane, if that is on the inner side of all edges.
fn to_triangle(eye: Vector, direction: Vector, triangle: &[f32]) -> Option<f64> {
    let part = |k: usize| -> Vector { std::array::from_fn(|n| triangle[3 * k + n].into()) };
    let (a, b, c) = (part(0), along(part(0), 1.0, part(1)), along(part(0), 1.0, part(2)));
    let normal = cross(part(1), part(2));
    let t = dot(normal, along(a, -1.0, eye)) / dot(normal, direction);
    let point = along(eye, t, direction);
    let inner = |from, to| dot(cross(along(to, -1.0, from), along(point, -1.0, from)), normal) >= 0.0;
    (t > 0.0 && inner(a, b) && inner(b, c) && inner(c, a)).then_some(t)
}

/// A kernel that finds what rays hit.
type FindsHits =
    unsafe extern "C" fn(i32, *const f32, *const i32, *const i32, *const f32, *const f32, *mut f32) -> i32;

/// Runs a kernel on a data set and compares it with all triangles tried for each ray.
fn rays_hit_what_is_nearest(kernel: FindsHits, name: &str, set: usize) {
    let data = small(name, set);
    let (bounds, first, kind) = (f32s(&data, 0), i32s(&data, 1), i32s(&data, 2));
    let (triangles, camera, mut distance) = (f32s(&data, 3), f32s(&data, 4), f32s(&data, 5));
    let vector = |k: usize| -> Vector { std::array::from_fn(|n| camera[k + n].into()) };
    let (mut hits, mut misses, mut others) = (0, 0, 0);
    for i in indices(&data) {
        let found = unsafe {
            let (f, k, d) = (first.as_ptr(), kind.as_ptr(), distance.as_mut_ptr());
            kernel(i, bounds.as_ptr(), f, k, triangles.as_ptr(), camera.as_ptr(), d)
        };
        let (x, y) = pixel(i);
        let direction = along(along(vector(3), x, vector(6)), y, vector(9));
        let met = triangles.chunks(9).map(|triangle| to_triangle(vector(0), direction, triangle));
        let nearest = met.enumerate().filter_map(|(k, t)| Some((t?, k))).min_by(|a, b| a.0.total_cmp(&b.0));
        let t = distance[i as usize];
        match nearest {
            Some((expected, triangle)) if near(t.into(), expected, 1e-4 * expected) => {
                hits += i32::from(triangle as i32 == found);
            }
            None if found == -1 && t == f32::INFINITY => misses += 1,
            _ => others += 1,
        }
    }
    let all = data.range.1 as i32;
    // Rays along edges may find what is next to it, or behind.
    assert!(others * 200 < all, "{others} of {all} rays find something else");
    assert!((hits + misses) * 100 > all * 98, "{hits} hits and {misses} misses of {all} are right");
    assert!(hits * 5 > all && misses * 20 > all, "{hits} hits, {misses} misses");
}

#[test]
fn rays_hit_the_nearest_triangle_of_a_landscape() {
    rays_hit_what_is_nearest(rt::rt, "rt", 0);
    rays_hit_what_is_nearest(rt::rays, "rays", 0);
}

#[test]
fn rays_hit_the_nearest_triangle_of_spheres() {
    rays_hit_what_is_nearest(rt::rt, "rt", 1);
    rays_hit_what_is_nearest(rt::rays, "rays", 1);
}
