/* A filter with five coefficients. */
// survey: n i32 = 3000; c f32[5] in -1..1; in f32[n+4] in -1..1; out f32[n]

void fir5(int n, const float *c, const float *in, float *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < 5; k++)
            sum += c[k] * in[i + k];
        out[i] = sum;
    }
}
