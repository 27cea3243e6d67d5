//! One picture over another, channel by channel.
// survey: let N = 2000 | 20; range N; over u8[4*N] random; under u8[4*N] random; out u8[4*N]

//@ args i=index

/// Blends pixel `i`.
///
/// # Safety
/// `i` is a pixel of all three pictures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_blend(i: usize, over: *const [u8; 4], under: *const [u8; 4], out: *mut [u8; 4]) {
    let (a, b) = unsafe { (&*over.add(i), &*under.add(i)) };
    let alpha = a[3] as u32;
    let mut mixed = [0u8; 4];
    for k in 0..4 {
        mixed[k] = ((a[k] as u32 * alpha + b[k] as u32 * (255 - alpha)) / 255) as u8;
    }
    unsafe { *out.add(i) = mixed };
}
