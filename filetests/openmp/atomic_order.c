// construct: `atomic` with an order of memory accesses
// happens: refused
// refused: `#pragma omp atomic seq_cst` in it is for threads
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd
  for (int i = 0; i < n; i++) {
#pragma omp atomic seq_cst
    out[x[i] & 7] += x[i]; }
}
