/* Brightness of a picture with three bytes a pixel. */
// survey: n i32 = 3000 | 7; rgb u8[3*n] random; gray u8[n]

#include <stdint.h>

void rgb_to_gray(int n, const uint8_t *rgb, uint8_t *gray) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        gray[i] = (77 * r + 150 * g + 29 * b) >> 8;
    }
}
