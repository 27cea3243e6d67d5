// construct: directives in macros and `_Pragma`, over several lines, with comments
// happens: as those in lines of their own
// lanes: 4
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#define SIMD(x) _Pragma("omp simd safelen(x)")
#define LOOP _Pragma("omp simd") for (int i = 0; i < n; i++)
  LOOP out[i] = x[i];
  _Pragma("omp simd safelen(4)") for (int i = 4; i < n; i++) out[i] = out[i - 4] + x[i];
#pragma omp \
    simd /* why */ safelen /* 16 */ \
    (2 * 2) // x
  for (int i = 4; i < n; i++) out[i] = out[i - 4] + x[i];
}
