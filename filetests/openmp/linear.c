// construct: `linear(list : step)`
// happens: an induction, which the loop itself shows
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int j = 5, k = 9;
#pragma omp simd linear(j, k : 2)
  for (int i = 0; i < n/4; i++) { out[j] = k; j += 2; k += 2; }
  out[0] = j + k;
}
