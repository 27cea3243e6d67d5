/* Packed RGB to packed YUV (BT.601, limited range). */
// survey: n i32 = 4000 | 1013; rgb u8[3*n] random; yuv u8[3*n]

#include <stdint.h>

void rgb_yuv(int n, const uint8_t *restrict rgb, uint8_t *restrict yuv) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        yuv[3 * i] = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
        yuv[3 * i + 1] = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128;
        yuv[3 * i + 2] = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
    }
}
