/* RGBA whose colours are multiplied by its alpha. */
// survey: n i32 = 4000 | 1013; src u8[4*n] random; dst u8[4*n]

#include <stdint.h>

static uint8_t scaled(int x, int a) {
    int t = x * a + 128;
    return (t + (t >> 8)) >> 8;
}

void premultiply(int n, const uint8_t *restrict src, uint8_t *restrict dst) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int a = src[4 * i + 3];
        dst[4 * i] = scaled(src[4 * i], a);
        dst[4 * i + 1] = scaled(src[4 * i + 1], a);
        dst[4 * i + 2] = scaled(src[4 * i + 2], a);
        dst[4 * i + 3] = a;
    }
}
