/* A filter in which each value depends on the one before. */
// survey: n i32 = 4000; k f32 = 0.2; in f32[n] in -1..1; out f32[n]; omp no

void low_pass(int n, float k, const float *in, float *out) {
    float y = 0;
    //@ loop
    for (int i = 0; i < n; i++) {
        y += k * (in[i] - y);
        out[i] = y;
    }
}
