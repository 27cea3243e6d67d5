//@ group Lane operations
//@ construct one active lane after the other, one value after the other (ISPC's `foreach_active`, `foreach_unique`)
//@ happens loops over ballots
//@ args index, buffer:256=random, buffer:256=zero
//@ range 0..60
//@ lockstep
#include "warpline.h"

void kernel(unsigned i, const int *a, int *out) {
    int x = a[i], y = 0;
    if (x > 0) {
        warpline_foreach_active(lane) { y += (int)lane * 3 + 1; }
        warpline_foreach_unique(i32, value, x & 3) { y += value * 100; }
    }
    if (warpline_coherent(x < -5)) y += 7;
    if (warpline_likely(x != 1)) y ^= 64;
    out[i] = y;
}
