/* Divides only where it can. */
// survey: n i32 = 4000; x f32[n] in -1..1; out f32[n]

void invert_nonzero(int n, const float *x, float *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        if (x[i] != 0.0f)
            out[i] = 1.0f / x[i];
        else
            out[i] = 0.0f;
    }
}
