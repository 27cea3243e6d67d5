// construct: sums beside one that `reduction` names, whatever they are called
// happens: combined in the order of the program
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  float s = 1, s2 = 0, s5 = 0;
#pragma omp simd reduction(+:s)
  for (int i = 0; i < n; i++) { s += x[i]; s2 += x[i]; s5 += x[i]; }
  f[0] = s + s2 + s5;
}
