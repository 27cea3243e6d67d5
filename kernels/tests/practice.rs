//! Kernels from the practice of SPMD programming against plain programs.

#[path = "../binomial.rs"]
mod binomial;
#[path = "../black_scholes.rs"]
mod black_scholes;
mod inputs;
#[path = "../mandelbrot.rs"]
mod mandelbrot;
#[path = "../noise.rs"]
mod noise;
#[path = "../stencil.rs"]
mod stencil;

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
