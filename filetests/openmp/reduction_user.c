// construct: reductions of the user’s own (`declare reduction`)
// happens: refused
// refused: is a reduction of the user's own, which is not supported
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp declare reduction(mine : int : omp_out += omp_in) initializer(omp_priv = 0)
  int s = 0;
#pragma omp simd reduction(mine:s)
  for (int i = 0; i < n; i++) s += x[i];
  out[0] = s;
}
