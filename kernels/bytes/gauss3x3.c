/* Each pixel smoothed with its eight neighbours: 1 2 1, 2 4 2, 1 2 1. */
// survey: n i32 = 4000 | 1013; a u8[n+2] random; b u8[n+2] random; c u8[n+2] random; out u8[n]

#include <stdint.h>

void gauss3x3(int n, const uint8_t *restrict a, const uint8_t *restrict b, const uint8_t *restrict c,
              uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int above = a[i] + 2 * a[i + 1] + a[i + 2];
        int here = b[i] + 2 * b[i + 1] + b[i + 2];
        int below = c[i] + 2 * c[i + 1] + c[i + 2];
        out[i] = (above + 2 * here + below + 8) >> 4;
    }
}
