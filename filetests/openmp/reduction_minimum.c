// construct: `reduction(min : list)` by `if`
// happens: one for each lane, combined behind the loop
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  float lo = f[0], hi = f[0]; int m = x[0];
#pragma omp simd reduction(min:lo, m) reduction(max:hi)
  for (int i = 0; i < n; i++) { float v = x[i] * 0.5f; if (v < lo) lo = v; hi = v > hi ? v : hi; m = x[i] < m ? x[i] : m; }
  f[0] = lo; f[1] = hi; out[0] = m;
}
