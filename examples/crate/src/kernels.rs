//! What is done for one element. These are ordinary functions of the crate, which use its types and modules; warpline
//! makes others of them that work on many elements at a time.

use warpline_lanes::kernel;

use crate::light::Lamp;

/// A sum of products.
#[kernel(_i = index)]
pub fn saxpy(_i: usize, a: f32, x: &f32, y: &mut f32) {
    *y += a * *x;
}

/// How many iterations the `i`-th point of a picture stays within bounds: the Mandelbrot set.
#[kernel(i = index)]
pub fn mandelbrot(i: u32, width: u32, height: u32, limit: u32) -> u32 {
    let cx = (i % width) as f32 * (3.0 / width as f32) - 2.0;
    let cy = (i / width) as f32 * (2.0 / height as f32) - 1.0;
    let (mut x, mut y, mut n) = (0.0f32, 0.0f32, 0);
    while n < limit && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
        n += 1;
    }
    n
}

/// The neighbours' mean of what is above a threshold. `sample` and `smooth` are the lane's own elements, `all` is the
/// same for all lanes.
#[kernel(i = index)]
pub fn smooth(i: usize, threshold: f32, all: &[f32], sample: &f32, smooth: &mut f32) {
    *smooth = *sample;
    if *sample > threshold && i > 0 && i + 1 < all.len() {
        *smooth = (all[i - 1] + *sample + all[i + 1]) / 3.0;
    }
}

/// The light of lamps at a place, and the number of the lamp that gives most of it, if there is any light.
#[kernel(i = index)]
pub fn lit(i: usize, place: &(f32, f32), lamps: &[Lamp]) -> Option<(usize, f32)> {
    let _ = i;
    let mut best: Option<(usize, f32)> = None;
    for (number, lamp) in lamps.iter().enumerate() {
        let light = lamp.light(*place);
        if light > 0.01 && best.is_none_or(|(_, most)| light > most) {
            best = Some((number, light));
        }
    }
    best
}
