// construct: `collapse(2)` of a triangle
// happens: the loop that clang makes of the nest
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd collapse(2)
  for (int i = 0; i < 30; i++) for (int k = 0; k < i; k++) out[i * 30 + k] = x[i] + k;
}
