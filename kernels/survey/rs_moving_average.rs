//! The mean of eight neighbours, with bounds that are checked.
// survey: let N = 2000; x &f32[N+8] in -1..1; out &f32[N]

/// Smooths `x`.
#[unsafe(no_mangle)]
pub extern "C" fn rs_moving_average(x: &[f32], out: &mut [f32]) {
    //@ loop
    for i in 0..out.len() {
        let mut sum = 0.0;
        for k in 0..8 {
            sum += x[i + k];
        }
        out[i] = sum / 8.0;
    }
}
