//! A sum of squares of integers.
// survey: let N = 4000 | 7; x &i32[N] in -1000..1000; -> i64

/// The sum of the squares.
#[unsafe(no_mangle)]
pub extern "C" fn rs_sum_squares(x: &[i32]) -> i64 {
    let mut sum = 0i64;
    //@ loop
    for &v in x {
        sum += i64::from(v) * i64::from(v);
    }
    sum
}
