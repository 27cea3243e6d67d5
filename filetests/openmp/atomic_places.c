// construct: `atomic` on places that lanes may have in common
// happens: one lane after the other, atomically
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    out[x[i] & 7] += 1;
  }
}
