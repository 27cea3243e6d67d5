// construct: `linear` with a step that is a variable
// happens: an induction
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int j = 5; int m = x[0] & 3;
#pragma omp simd linear(j:m)
  for (int i = 0; i < n/4; i++) { out[j&1023] = x[i]; j += m; }
  out[0] = j;
}
