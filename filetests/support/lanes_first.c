//@ group Lane operations
//@ construct `warpline_first_T`
//@ happens once: the value of the first active lane in which a condition holds, 0 if there is none
//@ args index, buffer:600=random, buffer:600=zero
//@ range 0..50
//@ lockstep
#include "warpline.h"
void kernel(int i, const int *a, int *firsts) {
  if (a[i] & 1)
    firsts[i] = warpline_first_i32(a[i], true) + (int)(100 * warpline_first_f64(i * 0.5 + 1, a[i] > 0));
}
