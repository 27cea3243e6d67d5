// construct: directives that differ in one line
// happens: refused
// refused: their loops cannot be told apart
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#define L4 _Pragma("omp simd safelen(4)") for (int i = 4; i < n; i++)
#define L8 _Pragma("omp simd safelen(8)") for (int i = 8; i < n; i++)
  L4 out[i] = out[i - 4] + x[i];   L8 out[i] = out[i - 8] + x[i];
}
