// construct: `reduction` with `&&` or `||`
// happens: refused
// refused: use 0 and 1, and `&` or `|`
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int a = 1, b = 0;
#pragma omp simd reduction(&&:a) reduction(||:b)
  for (int i = 0; i < n; i++) { a = a && x[i]; b = b || x[i] == 77; }
  out[0] = a; out[1] = b;
}
