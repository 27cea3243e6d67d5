//! Vectors of length one, as arrays of three numbers.
// survey: let N = 1500; range N; v f32[3*N] in -1..1

//@ args i=index

/// Normalizes vector `i`.
///
/// # Safety
/// `i` is an index of `v`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_normalize(i: usize, v: *mut [f32; 3]) {
    let v = unsafe { &mut *v.add(i) };
    let mut sum = 0.0;
    for k in 0..3 {
        sum += v[k] * v[k];
    }
    let length = sum.sqrt();
    if length > 1e-6 {
        for k in 0..3 {
            v[k] /= length;
        }
    }
}
