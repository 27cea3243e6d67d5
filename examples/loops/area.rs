//! A loop within a function: how many points of a grid are in Mandelbrot's set.
//!
//! There is no kernel here. The loop with the mark is vectorized where it stands, W columns at once, though each goes round the inner loop
//! another number of times; each lane counts for itself, and the counts are added up behind the loop. `warpline vectorize` writes an object that
//! takes the place of what rustc would make of this file.

//@ bind n=512

/// The number of points of an n × n grid that stay near the origin for 64 steps.
#[unsafe(no_mangle)]
pub extern "C" fn area(n: u32) -> u32 {
    let mut inside = 0;
    for row in 0..n {
        //@ loop
        for column in 0..n {
            let (x, y) = (column as f32 * (3.0 / n as f32) - 2.0, row as f32 * (2.0 / n as f32) - 1.0);
            let (mut a, mut b, mut left) = (0.0f32, 0.0f32, 64);
            while left > 0 && a * a + b * b <= 4.0 {
                (a, b) = (a * a - b * b + x, 2.0 * a * b + y);
                left -= 1;
            }
            if left == 0 {
                inside += 1;
            }
        }
    }
    inside
}
