// construct: `reduction` of integers: `+`, `|`, `^`
// happens: one for each lane, combined behind the loop
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int s = 1, b = 0; unsigned z = 0;
#pragma omp simd reduction(+:s) reduction(|:b) reduction(^:z)
  for (int i = 0; i < n; i++) { s += x[i]; b |= x[i]; z ^= x[i]; }
  out[0] = s; out[1] = b; out[2] = z;
}
