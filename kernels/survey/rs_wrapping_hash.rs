//! A hash of strings that all have eight bytes.
// survey: let N = 1500; range N; text u8[8*N] random; out u32[N]

//@ args i=index

/// Hashes string `i` (FNV).
///
/// # Safety
/// `i` is an index of both arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_wrapping_hash(i: usize, text: *const [u8; 8], out: *mut u32) {
    let mut hash = 0x811c9dc5u32;
    for &byte in unsafe { &*text.add(i) } {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x01000193);
    }
    unsafe { *out.add(i) = hash };
}
