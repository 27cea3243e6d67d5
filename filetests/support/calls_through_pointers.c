//@ group Calls
//@ construct calls through pointers
//@ happens each distinct callee once, vectorized; unknown ones per active lane
//@ args index, varying:4=small, uniform=3, buffer:256=random
//@ range 0..50
//@ result 4
typedef unsigned (*operation)(unsigned, const unsigned *);
__attribute__((noinline)) static unsigned sum(unsigned n, const unsigned *a) {
  unsigned total = 0;
  for (unsigned k = 0; k < (n & 7); ++k)
    total = total * 3 + a[(n + k) & 63];
  return total;
}
__attribute__((noinline)) static unsigned twice(unsigned n, const unsigned *a) { return n * 2 + a[n & 63]; }
__attribute__((noinline)) static unsigned chain(unsigned n, const unsigned *a) {
  while (n > 3)
    n = a[n & 63] % n;
  return n;
}
static const operation operations[4] = {sum, twice, chain, sum};
unsigned kernel(unsigned i, unsigned x, unsigned u, const unsigned *a) {
  unsigned r = operations[x & 3](i, a);
  if (x & 4)
    r += operations[(x + i) & 3](r, a) + operations[u & 3](x, a);
  return r;
}
