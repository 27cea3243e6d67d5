//! A smooth ramp.
// survey: let N = 1000 | 3; range N; x f64[N] in -5..5; out f64[N]; tolerance 1e-12

//@ args i=index

/// Writes value `i`.
///
/// # Safety
/// `i` is an index of both arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_softplus(i: usize, x: *const f64, out: *mut f64) {
    let x = unsafe { *x.add(i) };
    unsafe { *out.add(i) = if x > 4.0 { x } else { (1.0 + x.exp()).ln() } };
}
