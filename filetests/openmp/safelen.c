// construct: `safelen(n)`
// happens: at most n lanes: what is n iterations away may conflict
// lanes: 4
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd safelen(4)
  for (int i = 4; i < n; i++) out[i] = out[i - 4] + x[i];
}
