/* Smooths a signal. */
// survey: n i32 = 4000; in f32[n] in -1..1; out f32[n]

void stencil3(int n, const float *in, float *out) {
    //@ loop
    for (int i = 1; i < n - 1; i++)
        out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}
