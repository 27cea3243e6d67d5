// construct: `ordered simd` that uses a variable which the rest of the loop and the code behind it use, too
// happens: refused
// refused: copy it to a variable declared in the loop
//@ bind x=i32[1009]=random
//@ bind out=i32[8100]=zero
//@ bind f=f32[1009]=1
//@ bind n=1001
void k(const int *restrict x, int *restrict out, float *restrict f, int n) {
  float s = 1;
#pragma omp simd reduction(+:s)
  for (int i = 0; i < n; i++) { 
#pragma omp ordered simd
   { s += x[i]; }
   s += 1; }
  f[9] = s;
}
