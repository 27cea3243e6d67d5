//! A table, with bounds that are checked.
// survey: let N = 4000; range N; at u16[N] below 1000; table &f32[1000] in -1..1; out f32[N]

//@ args i=index

/// Looks up value `i`.
///
/// # Safety
/// `i` is an index of `at` and `out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_lookup(i: usize, at: *const u16, table: &[f32], out: *mut f32) {
    let k = unsafe { *at.add(i) } as usize;
    unsafe { *out.add(i) = table[k] };
}
