/* Brightness as monitors have it, in bytes. */
// survey: let N = 1000; ndrange N; in u8[N] random; gamma f32 = 0.45; out f32[N]; tolerance 1e-5

kernel void cl_gamma(global const uchar *in, float gamma, global float *out) {
    int i = get_global_id(0);
    out[i] = pow(in[i] / 255.0f, gamma);
}
