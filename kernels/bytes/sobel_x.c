/* Horizontal gradients of three rows, as far as they fit bytes. */
// survey: n i32 = 4000 | 1013; a u8[n+2] random; b u8[n+2] random; c u8[n+2] random; out u8[n]

#include <stdint.h>
#include <stdlib.h>

void sobel_x(int n, const uint8_t *restrict a, const uint8_t *restrict b, const uint8_t *restrict c,
             uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int g = abs(a[i + 2] - a[i] + 2 * (b[i + 2] - b[i]) + c[i + 2] - c[i]);
        out[i] = g > 255 ? 255 : g;
    }
}
