/* A row smoothed with 1 2 1. */
// survey: n i32 = 4000 | 1013; in u8[n+2] random; out u8[n]

#include <stdint.h>

void gauss3(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = (in[i] + 2 * in[i + 1] + in[i + 2] + 2) >> 2;
}
