// construct: `linear` with a step that the loop contradicts
// happens: refused
// refused: the loop adds 3 to `j` in each iteration, not 2
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int j = 5;
#pragma omp simd linear(j:2)
  for (int i = 0; i < n/4; i++) { out[j] = x[i]; j += 3; }
  out[0] = j;
}
