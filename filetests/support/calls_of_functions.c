//@ group Calls
//@ construct functions of the module
//@ happens vectorized for the shapes and the mask of the call
//@ args index, varying:4=small, uniform=5, buffer:256=random
//@ range 0..50
//@ result 4
//@ contains call @sum.x4uus1.p0(%a, %u, %i)
__attribute__((noinline)) static unsigned sum(const unsigned *a, unsigned n, unsigned from) {
  unsigned total = 0;
  for (unsigned k = 0; k < n; ++k)
    total = total * 3 + a[(from + k) & 63];
  return total;
}
unsigned kernel(unsigned i, unsigned x, unsigned u, const unsigned *a) {
  unsigned r = sum(a, u, i);
  if (x & 1)
    r += sum(a, x, r);
  return r;
}
