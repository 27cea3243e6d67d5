//@ group Lane operations
//@ construct lane operations in functions that get structures by value, in memory
//@ happens refused
//@ args index, buffer:256=random
//@ range 0..50
//@ result 4
//@ refused depends on the other lanes, and passes copies of memory or carries more than arguments
#include "warpline.h"
typedef struct {
  unsigned v[8];
  unsigned n;
} many;
__attribute__((noinline)) static unsigned how_many(many s) {
  unsigned t = 0;
  for (unsigned k = 0; k < s.n; ++k)
    t += warpline_popcount(s.v[k] & 1);
  return t;
}
unsigned kernel(unsigned i, const unsigned *a) {
  many s = {{a[i & 63], i, 3, 4, 5, 6, 7, 8}, 8};
  return how_many(s);
}
