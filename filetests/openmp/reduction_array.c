// construct: `reduction` of a section of an array
// happens: one array for all lanes, changed for one lane after the other
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int h[8] = {0};
#pragma omp simd reduction(+ : h[0 : 8])
  for (int i = 0; i < n; i++) h[x[i] & 7] += i;
  for (int i = 0; i < 8; i++) out[i] = h[i];
}
