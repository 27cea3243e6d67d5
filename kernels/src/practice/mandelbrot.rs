//! The view on Mandelbrot's set.

use crate::{Argument, Inputs, Kernel, Size};

/// Points in a row, as in the kernel.
const WIDTH: u32 = 512;

/// Escape times.
pub const KERNEL: Kernel = Kernel {
    name: "mandelbrot",
    about: "escape times of the Mandelbrot set: a divergent loop",
    file: "mandelbrot.rs",
    source: include_str!("../../mandelbrot.rs"),
    c: include_str!("../../mandelbrot.c"),
    by_hand: None,
    function: "mandelbrot",
    args: Some("i=index"),
    data: &["whole set"],
    make,
};

/// The set as a whole, −2..1 by −1..1.
fn make(_data: usize, size: Size, _seed: u64) -> Inputs {
    let height = size.pick(10, 384, 4096);
    Inputs {
        range: (0, i64::from(WIDTH * height)),
        arguments: vec![
            Argument::Float(-2.0),
            Argument::Float(-1.0),
            Argument::Float(3.0 / f64::from(WIDTH)),
            Argument::Float(2.0 / f64::from(height)),
        ],
    }
}
