// construct: `safelen(1)`
// happens: one lane
// lanes: 1
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd safelen(1)
  for (int i = 1; i < n; i++) out[i] = out[i - 1] + x[i];
}
