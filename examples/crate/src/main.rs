//! Runs kernels element by element, on many lanes, and on many lanes in several threads, compares the results, and
//! prints how much faster that is.

mod kernels;
mod light;

/// What `build.rs` made of `kernels.rs`.
mod vector {
    include!(concat!(env!("OUT_DIR"), "/vector.rs"));
}

use std::process::ExitCode;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use light::Lamp;

/// The shortest time of several runs.
fn time(mut work: impl FnMut()) -> Duration {
    let mut run = || {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..5).map(|_| run()).min().unwrap_or_default()
}

fn report(name: &str, cpu: &str, scalar: Duration, vector: Duration, equal: bool) {
    let ratio = scalar.as_secs_f64() / vector.as_secs_f64();
    println!(
        "{name:<10}  scalar {scalar:>9.2?}  vector {vector:>9.2?}  {ratio:>5.2} times as fast ({cpu})  results {}",
        if equal { "agree" } else { "DIFFER" }
    );
}

fn mandelbrot() -> bool {
    const WIDTH: u32 = 512;
    const HEIGHT: u32 = 384;
    let points = 0..WIDTH * HEIGHT;
    let (mut one_by_one, mut together) = (vec![0; points.len()], vec![0; points.len()]);
    let scalar = time(|| {
        for i in points.clone() {
            one_by_one[i as usize] = kernels::mandelbrot(i, WIDTH, HEIGHT, 256);
        }
    });
    let vector = time(|| vector::mandelbrot(points.clone(), WIDTH, HEIGHT, 256, &mut together));
    let equal = one_by_one == together;
    report("mandelbrot", vector::mandelbrot_cpu(), scalar, vector, equal);
    // Several threads: each runs the kernel over a part of the range, on many lanes.
    const PART: usize = 8192;
    let mut in_threads = vec![0; points.len()];
    let threads = time(|| {
        in_threads.par_chunks_mut(PART).enumerate().for_each(|(k, part)| {
            let begin = (k * PART) as u32;
            vector::mandelbrot(begin..begin + part.len() as u32, WIDTH, HEIGHT, 256, part);
        });
    });
    let agree = in_threads == one_by_one;
    report("  threads", &format!("{} of them", rayon::current_num_threads()), scalar, threads, agree);
    equal && agree
}

fn lit() -> bool {
    let random = |i: u32| (i.wrapping_mul(2_654_435_761) >> 16) as f32 / 655.36;
    let lamps: Vec<Lamp> = (0..50)
        .map(|i| Lamp { place: (random(2 * i), random(2 * i + 1)), power: random(i), is_on: i % 4 > 0 })
        .collect();
    let places: Vec<(f32, f32)> = (0..20_000).map(|i| (random(3 * i), random(5 * i))).collect();
    let (mut one_by_one, mut together) = (vec![None; places.len()], vec![None; places.len()]);
    let scalar = time(|| {
        for (i, (place, best)) in places.iter().zip(&mut one_by_one).enumerate() {
            *best = kernels::lit(i, place, &lamps);
        }
    });
    let vector = time(|| vector::lit(0..places.len(), &places, &lamps, &mut together));
    let equal = one_by_one == together;
    report("lit", vector::lit_cpu(), scalar, vector, equal);
    equal
}

fn smooth() -> bool {
    let samples: Vec<f32> = (0..100_003).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32).collect();
    let (mut one_by_one, mut together) = (vec![0.0; samples.len()], vec![0.0; samples.len()]);
    let scalar = time(|| {
        for (i, (sample, smooth)) in samples.iter().zip(&mut one_by_one).enumerate() {
            kernels::smooth(i, 5e6, &samples, sample, smooth);
        }
    });
    let vector = time(|| vector::smooth(0..samples.len(), 5e6, &samples, &samples, &mut together));
    let equal = one_by_one == together;
    report("smooth", vector::smooth_cpu(), scalar, vector, equal);
    equal
}

fn saxpy() -> bool {
    let n = 10_007;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let (mut scalar, mut y) = (vec![1.0; n], vec![1.0; n]);
    for i in 0..n {
        kernels::saxpy(i, 2.0, &x[i], &mut scalar[i]);
    }
    vector::saxpy(0..n, 2.0, &x, &mut y);
    scalar == y
}

fn main() -> ExitCode {
    match saxpy() & mandelbrot() & smooth() & lit() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
