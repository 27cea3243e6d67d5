//! Brightness of a pixel of three bytes.
// survey: let N = 3000 | 7; range N; rgb u8[3*N] random; gray u8[N]

//@ args i=index

/// Writes the brightness of pixel `i`.
///
/// # Safety
/// `i` is a pixel of both pictures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_gray(i: usize, rgb: *const [u8; 3], gray: *mut u8) {
    let [r, g, b] = unsafe { *rgb.add(i) };
    let sum = 77 * r as u32 + 150 * g as u32 + 29 * b as u32;
    unsafe { *gray.add(i) = (sum >> 8) as u8 };
}
