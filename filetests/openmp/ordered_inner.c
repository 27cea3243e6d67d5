// construct: `ordered simd` in a loop within the loop
// happens: refused
// refused: an iteration executes one such block once
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < (x[i] & 3); j++) {
#pragma omp ordered simd
      { out[0] = out[0] * 3 + i; }
    }
  }
}
