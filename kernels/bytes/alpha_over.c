/* Opaque layers blended by an alpha for each pixel. */
// survey: n i32 = 4000 | 1013; src u8[n] random; dst u8[n] random; alpha u8[n] random; out u8[n]

#include <stdint.h>

void alpha_over(int n, const uint8_t *restrict src, const uint8_t *restrict dst, const uint8_t *restrict alpha,
                uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int a = alpha[i], x = src[i] * a + dst[i] * (255 - a) + 128;
        out[i] = (x + (x >> 8)) >> 8;
    }
}
