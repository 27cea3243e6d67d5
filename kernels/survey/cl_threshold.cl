/* Black or white. */
// survey: let N = 4000; ndrange N; in u8[N] random; level u8 = 100; out u8[N]

kernel void cl_threshold(global const uchar *in, uchar level, global uchar *out) {
    size_t i = get_global_id(0);
    out[i] = in[i] > level ? 255 : 0;
}
