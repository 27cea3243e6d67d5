/* Marks what is above a threshold, in memory that nobody else accesses meanwhile. */
// survey: n i32 = 4000 | 1013; in u8[n] random; limit u8 = 100; mark u8 = 7; out u8[n] random

#include <stdint.h>

//@ exclusive out
void mark_above(int n, const uint8_t *restrict in, uint8_t limit, uint8_t mark, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        if (in[i] > limit)
            out[i] = mark;
}
