/* Luma of packed RGB. */
// survey: n i32 = 4000 | 1013; rgb u8[3*n] random; gray u8[n]

#include <stdint.h>

void rgb_gray(int n, const uint8_t *restrict rgb, uint8_t *restrict gray) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        gray[i] = (77 * r + 150 * g + 29 * b + 128) >> 8;
    }
}
