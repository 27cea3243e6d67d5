/* y = a x + y. */
// survey: n i32 = 4000 | 20 | 3; a f32 = 0.25; x f32[n] in -1..1; y f32[n] in -1..1

void saxpy(int n, float a, const float *x, float *y) {
    //@ loop
    for (int i = 0; i < n; i++) {
        y[i] = a * x[i] + y[i] * 0.5f;
    }
}
