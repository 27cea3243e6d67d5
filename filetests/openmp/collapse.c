// construct: `collapse(n)`
// happens: the loop that clang makes of the nest
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd collapse(3)
  for (int i = 0; i < 7; i++) for (int k = 1; k <= 11; k += 2) for (int l = 13; l > 0; l--) out[(i * 12 + k) * 14 + l] = x[i] + k * l;
}
