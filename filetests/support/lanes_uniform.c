//@ group Lane operations
//@ construct `warpline_uniform_T`: values that the program says to be the same in all lanes
//@ happens what is computed from them is computed once; `warpline run` checks it
//@ args index, buffer:256=random, buffer:256=zero
//@ range 0..60
//@ lockstep
#include "warpline.h"

void kernel(unsigned i, const int *a, int *out) {
    int row = warpline_uniform_i32((int)(i >> 6)); /* the same for all: i is below 64 */
    int sum = 0;
    for (int k = 0; k < row + 3; k++) sum += a[row + k];
    out[i] = a[i] + sum;
}
