// construct: `safelen` with a constant of the program
// happens: at most as many lanes
// lanes: 4
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  enum { N = 6 };
#pragma omp simd safelen(N)
  for (int i = 6; i < n; i++) out[i] = out[i - 6] + x[i];
}
