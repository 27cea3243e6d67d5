//@ group Lane operations
//@ construct `warpline_compact_T`
//@ happens a packed store of the active lanes that want it, in lane order
//@ args index, buffer:600=random, buffer:600=zero, buffer:600=zero
//@ range 0..50
//@ contains llvm.masked.compressstore
//@ lockstep
#include "warpline.h"
void kernel(int i, const int *a, int *positive, int *counts) {
  int x = a[i];
  if (x & 1)
    counts[i] = warpline_compact_i32(positive, x, x > 0);
  else
    counts[i] = warpline_compact_i32(positive + 70 + (x & 3), i, true);
}
