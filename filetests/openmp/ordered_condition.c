// construct: `ordered simd` under a condition
// happens: the block as a whole, by the lanes that reach it
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd
  for (int i = 0; i < n; i++) {
    if (x[i] & 1) {
#pragma omp ordered simd
    { int j = out[0]++; out[1 + j] = i; }
    }
  }
}
