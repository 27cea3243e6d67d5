// construct: `simdlen(n)`
// happens: a wish for n lanes
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd simdlen(4)
  for (int i = 0; i < n; i++) out[i] = x[i];
}
