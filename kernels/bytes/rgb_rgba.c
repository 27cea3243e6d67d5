/* RGB to opaque RGBA. */
// survey: n i32 = 4000 | 1013; src u8[3*n] random; dst u8[4*n]

#include <stdint.h>

void rgb_rgba(int n, const uint8_t *restrict src, uint8_t *restrict dst) {
    //@ loop
    for (int i = 0; i < n; i++) {
        dst[4 * i] = src[3 * i];
        dst[4 * i + 1] = src[3 * i + 1];
        dst[4 * i + 2] = src[3 * i + 2];
        dst[4 * i + 3] = 255;
    }
}
