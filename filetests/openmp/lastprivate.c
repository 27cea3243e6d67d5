// construct: `lastprivate`
// happens: the value of the last iteration
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int last = -7;
#pragma omp simd lastprivate(last)
  for (int i = 0; i < n; i++) { last = x[i] * 3; out[i] = last; }
  out[n] = last;
}
