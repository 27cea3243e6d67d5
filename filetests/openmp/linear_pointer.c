// construct: `linear` of a pointer
// happens: an induction
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int *p = out;
#pragma omp simd linear(p)
  for (int i = 0; i < n; i++) { *p++ = x[i]; }
  out[n] = p - out;
}
