//! Escape times of the Mandelbrot set, one point per lane.
//!
//! Shows: a loop that each lane leaves in an iteration of its own, by a `break`. It becomes a uniform loop that runs until
//! the last lane has left; lanes that have are masked out.
//!
//! `warpline run examples/mandelbrot.rs --png out=mandelbrot.png,512x384` writes a picture.

const WIDTH: i32 = 512;
const HEIGHT: i32 = 384;
const LIMIT: i32 = 256;

//@ args i=index, out=uniform
//@ range 0..196608
//@ bind out=i32[196608]=zero

/// Writes the number of iterations after which point `i` of the picture leaves the circle of radius 2 to `out[i]`.
///
/// # Safety
/// `out` has room for `WIDTH * HEIGHT` elements, and `0 <= i < WIDTH * HEIGHT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mandelbrot(i: i32, out: *mut i32) {
    let (x, y) = (i % WIDTH, i / WIDTH);
    let cx = x as f32 * (3.0 / WIDTH as f32) - 2.0;
    let cy = y as f32 * (2.0 / HEIGHT as f32) - 1.0;
    let (mut zx, mut zy) = (0.0f32, 0.0f32);
    let mut n = 0;
    while n < LIMIT {
        let (xx, yy) = (zx * zx, zy * zy);
        if xx + yy > 4.0 {
            break;
        }
        zy = 2.0 * zx * zy + cy;
        zx = xx - yy + cx;
        n += 1;
    }
    unsafe { *out.offset(i as isize) = n };
}
