// construct: `private`
// happens: a variable of each lane
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int t = 9;
#pragma omp simd private(t)
  for (int i = 0; i < n; i++) { t = x[i] * 2; if (t & 2) t++; out[i] = t; }

}
