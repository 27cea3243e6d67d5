// construct: `atomic capture`
// happens: each lane sees what the lanes before it did
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp simd
  for (int i = 0; i < n; i++) {
    int v;
#pragma omp atomic capture
    v = out[0]++;
    out[i + 1] = v;
  }
}
