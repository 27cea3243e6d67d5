/* A row of a picture, stretched. */
// survey: n i32 = 1500; m i32 = 500; in f32[m+2] in 0..1; out f32[n]

void bilinear_row(int n, int m, const float *in, float *out) {
    float step = (float)m / n;
    //@ loop
    for (int i = 0; i < n; i++) {
        float at = i * step;
        int k = (int)at;
        float t = at - k;
        out[i] = in[k] * (1 - t) + in[k + 1] * t;
    }
}
