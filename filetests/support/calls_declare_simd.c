//@ group Calls
//@ construct `#pragma omp declare simd`
//@ happens the user's variant
//@ args index, varying:4=small, uniform=5
//@ range 0..50
//@ result 4
//@ contains _ZGVbM4vu_weigh
typedef float four __attribute__((vector_size(16)));
typedef int mask __attribute__((vector_size(16)));
#pragma omp declare simd uniform(by) inbranch
__attribute__((weak, noinline)) float weigh(float x, int by) { return x * (float)by + 0.5f; }
four _ZGVbM4vu_weigh(four x, int by, mask active) {
  four r = x * (float)by + 0.5f;
  return (four)((mask)r & active);
}
float kernel(int i, unsigned x, int u) {
  float r = (float)i;
  if (x & 1)
    r += weigh((float)x, u);
  return r;
}
