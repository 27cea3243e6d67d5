/* Two sums at once. */
// survey: n i32 = 4000; x f32[n] in -1..1; out f32[2]; omp reduction(+:sum, squares); tolerance 1e-4

void mean_and_variance(int n, const float *x, float *out) {
    float sum = 0, squares = 0;
    //@ loop any-order
    for (int i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    out[0] = sum / n;
    out[1] = squares / n - out[0] * out[0];
}
