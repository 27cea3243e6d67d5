//@ group Calls
//@ construct functions that get structures by value, in memory
//@ happens per active lane, in lane order
//@ args index, buffer:256=random
//@ range 0..50
//@ result 4
//@ machine
typedef struct {
  unsigned v[8];
  unsigned n;
} many;
__attribute__((noinline)) static unsigned total(many s) {
  unsigned t = 0;
  for (unsigned k = 0; k < s.n; ++k) {
    s.v[k] *= 2;
    t += s.v[k];
  }
  return t;
}
unsigned kernel(unsigned i, const unsigned *a) {
  many s = {{a[i & 63], i, 3, 4, 5, 6, 7, 8}, i & 7};
  unsigned t = 1;
  if (a[i & 63] & 1)
    t = total(s);
  return t * 31 + s.v[1];
}
