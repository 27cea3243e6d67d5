// construct: `ordered simd`
// happens: the block as a whole, one lane after the other
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd
  for (int i = 0; i < n; i++) {
    int y = x[i] * 3;
#pragma omp ordered simd
    { out[x[i] & 3] = out[(x[i] + 1) & 3] + y; out[5] ^= out[x[i] & 3]; }
    f[i] = y;
  }
}
