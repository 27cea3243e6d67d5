// construct: `reduction(+ : list)` and `*`, `-`, `max`, `min` of floating-point numbers
// happens: one for each lane, combined behind the loop, in any order
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  float s = 1.5f, p = 1, m = -1e30f, d = 3;
#pragma omp simd reduction(+ : s) reduction(* : p) reduction(max : m) reduction(- : d)
  for (int i = 0; i < n; i++) { s += x[i]; p *= 1 + x[i] * 1e-12f; m = x[i] > m ? x[i] : m; d -= x[i] & 7; }
  f[0] = s; f[1] = p; f[2] = m; f[3] = d;
}
