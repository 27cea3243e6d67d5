/* Luma of RGBA, whose alpha is not looked at. */
// survey: n i32 = 4000 | 1013; px u8[4*n] random; out u8[n]

#include <stdint.h>

void rgba_luma(int n, const uint8_t *restrict px, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = (px[4 * i] * 54 + px[4 * i + 1] * 183 + px[4 * i + 2] * 19) >> 8;
}
