// construct: clauses for threads in combined directives
// happens: left out, with the threads
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
#pragma omp parallel for simd schedule(static) num_threads(4) if(parallel: n > 10) default(shared)
  for (int i = 0; i < n; i++) {
#pragma omp atomic
   out[x[i] & 7] += x[i]; }
}
