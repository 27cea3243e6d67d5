// construct: `atomic` in a function that the loop calls
// happens: one lane after the other, atomically
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
//@ function k
static inline void add(int *o, int v) {
#pragma omp atomic
  o[v & 7] += v;
}
static inline void loop4(int *restrict o, const int *restrict x, int n) {
#pragma omp simd safelen(4)
  for (int i = 4; i < n; i++) o[i] = o[i - 4] + x[i];
}
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd
  for (int i = 0; i < n; i++) add(out, x[i]);
}
