/* A vector with a distance between its elements, as in BLAS. */
// survey: let S = 1 | 7; n i32 = 2000; a f32 = 0.5; x f32[n*S] in -1..1; incx i32 = S
// survey: y f32[n*S] in -1..1; incy i32 = S

void stride_any(int n, float a, const float *x, int incx, float *y, int incy) {
    //@ loop
    for (int i = 0; i < n; i++)
        y[i * incy] = 0.5f * y[i * incy] + a * x[i * incx];
}
