#include <stdint.h>
void blend(int n, const uint8_t *restrict src, const uint8_t *restrict dst, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int a = src[4*i+3];
        for (int c = 0; c < 3; c++)
            out[4*i+c] = (src[4*i+c] * a + dst[4*i+c] * (255 - a) + 127) / 255;
        out[4*i+3] = 255;
    }
}
