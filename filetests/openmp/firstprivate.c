// construct: `firstprivate` of what the loop does not change
// happens: what it is before the loop
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  int a = 3;
#pragma omp parallel for simd firstprivate(a)
  for (int i = 0; i < n; i++) { out[i] = x[i] + a; }
}
