// construct: loops that count down, in steps, with `!=`, unsigned
// happens: vector code
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd
  for (int i = n - 1; i >= 0; i--) out[i] = x[i] + i;
#pragma omp simd
  for (unsigned i = 0; i < (unsigned)n; i += 3) out[i] += (int)i;
#pragma omp simd
  for (long i = 5; i != n; i++) f[i] += x[i];
}
