//! Mixes two tracks, with clipping.
// survey: let N = 4000; a &i16[N] random; b &i16[N] random; out &i16[N]

/// Mixes `a` and `b`.
#[unsafe(no_mangle)]
pub extern "C" fn rs_clamp_i16(a: &[i16], b: &[i16], out: &mut [i16]) {
    let n = out.len().min(a.len()).min(b.len());
    //@ loop
    for i in 0..n {
        out[i] = a[i].saturating_add(b[i]);
    }
}
