//! y = a x + y, over slices.
// survey: let N = 4000 | 7; a f32 = 0.25; x &f32[N] in -1..1; y &f32[N] in -1..1

/// Adds `a * x` to half of `y`.
#[unsafe(no_mangle)]
pub extern "C" fn rs_saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    //@ loop
    for (y, x) in y.iter_mut().zip(x) {
        *y = *y * 0.5 + a * x;
    }
}
