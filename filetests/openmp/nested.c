// construct: `simd` within `simd`
// happens: the outer loop is vectorized
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd
  for (int i = 0; i < n / 8; i++) {
#pragma omp simd
    for (int k = 0; k < 8; k++) out[i * 8 + k] = x[i] + k; }
}
