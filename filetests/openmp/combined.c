// construct: `parallel for simd`, `distribute simd`, `taskloop simd`, `target … simd`
// happens: as `simd`: one thread executes the loop, which is said
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp parallel for simd schedule(static) num_threads(4)
  for (int i = 0; i < n; i++) out[i] = x[i];
#pragma omp distribute simd
  for (int i = 0; i < n; i++) out[i + n] = x[i] + 1;
#pragma omp taskloop simd grainsize(10)
  for (int i = 0; i < n; i++) out[i + 2 * n] = x[i] + 2;
#pragma omp target teams distribute parallel for simd map(to : x[0 : n]) map(tofrom : out[0 : 4 * n])
  for (int i = 0; i < n; i++) out[i + 3 * n] = x[i] + 3;
}
