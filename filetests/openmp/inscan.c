// construct: `reduction(inscan, …)` and `scan`
// happens: refused
// refused: the modifier `inscan` is not supported
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int s = 0;
#pragma omp simd reduction(inscan, +:s)
  for (int i = 0; i < n; i++) { s += x[i];
#pragma omp scan inclusive(s)
  out[i] = s; }
}
