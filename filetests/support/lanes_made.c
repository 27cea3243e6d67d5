//@ group Lane operations
//@ construct rotation, shift, shuffles of two values, packed loads, `warpline_reduce_equal_T`
//@ happens made of shuffles, scans and votes
//@ args index, buffer:256=random, buffer:256=zero
//@ range 0..60
//@ lockstep
#include "warpline.h"

void kernel(unsigned i, const int *a, int *out) {
    int x = a[i];
    int y = warpline_rotate_i32(x, 1) - warpline_rotate_i32(x, -3);
    y += warpline_shift_i32(x, 2) ^ warpline_shift_i32(x, -1);
    y ^= warpline_shuffle2_i32(x, y, (x >> 3) & 7);
    if (x > 0) y += warpline_packed_load_i32(a, x & 1);
    if (warpline_reduce_equal_i32(x & 3)) y += 17;
    out[i] = y;
}
