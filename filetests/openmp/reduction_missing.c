// construct: sums of floating-point numbers that no `reduction` names
// happens: combined in the order of the program, unless any order is allowed
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  float s = 1.5f;
#pragma omp simd
  for (int i = 0; i < n; i++) { s += x[i]; }
  f[0] = s;
}
