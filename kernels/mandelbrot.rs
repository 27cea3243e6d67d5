//! Escape times of the Mandelbrot set, one point per lane.
//!
//! Shows: a loop that each lane leaves in an iteration of its own, by a `break`. It becomes one that goes on until
//! the last lane has left. Points near each other leave at about the same time, but for those at the border of the
//! set.

//@ args i=index

/// Points in a row of the picture.
const WIDTH: u32 = 512;
/// The greatest number of iterations.
const LIMIT: i32 = 256;

/// The number of iterations after which point `i` of a picture leaves the circle of radius 2, or `LIMIT`. The picture
/// has its first point at `left`, `top`; the next points to the right and below are `step_x` and `step_y` away. Rows
/// are `WIDTH` long.
///
/// # Safety
/// None is needed: there are no arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mandelbrot(i: i32, left: f32, top: f32, step_x: f32, step_y: f32) -> i32 {
    let (x, y) = (i as u32 % WIDTH, i as u32 / WIDTH);
    let cx = left + x as i32 as f32 * step_x;
    let cy = top + y as i32 as f32 * step_y;
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
    n
}
