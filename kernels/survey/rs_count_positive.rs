//! How many values are positive.
// survey: let N = 4000; x &f64[N] in -1..1; -> u64

/// The number of positive values.
#[unsafe(no_mangle)]
pub extern "C" fn rs_count_positive(x: &[f64]) -> usize {
    let mut count = 0;
    //@ loop
    for i in 0..x.len() {
        if x[i] > 0.0 {
            count += 1;
        }
    }
    count
}
