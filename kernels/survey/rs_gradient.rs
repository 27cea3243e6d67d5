//! A picture from rows and columns.
// survey: width u64 = 60; height u64 = 50; range width*height; out f32[width*height]

//@ args i=index

/// Writes pixel `i`.
///
/// # Safety
/// `i` is a pixel of the picture.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_gradient(i: usize, width: usize, height: usize, out: *mut f32) {
    let (x, y) = (i % width, i / width);
    let (u, v) = (x as f32 / width as f32, y as f32 / height as f32);
    unsafe { *out.add(i) = u * (1.0 - u) + v * v };
}
