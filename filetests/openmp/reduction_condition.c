// construct: `reduction` in some iterations
// happens: one for each lane, combined behind the loop
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  double s = 0;
#pragma omp simd reduction(+:s)
  for (int i = 0; i < n; i++) { if (x[i] > 0) s += x[i]; else s -= 0.5; }
  f[0] = s;
}
