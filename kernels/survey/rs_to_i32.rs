//! Numbers become integers, saturating.
// survey: let N = 3000; range N; x f64[N] in -1000..1000; scale f64 = 16; out i32[N]

//@ args i=index

/// Converts value `i`.
///
/// # Safety
/// `i` is an index of both arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_to_i32(i: i32, x: *const f64, scale: f64, out: *mut i32) {
    let i = i as usize;
    unsafe { *out.add(i) = (*x.add(i) * scale).round() as i32 };
}
