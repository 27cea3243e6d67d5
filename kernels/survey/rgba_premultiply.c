/* Colours times opacity. */
// survey: n i32 = 2000; rgba u8[4*n] random; out u8[4*n]

#include <stdint.h>

void rgba_premultiply(int n, const uint8_t *rgba, uint8_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        unsigned a = rgba[4 * i + 3];
        for (int k = 0; k < 3; k++)
            out[4 * i + k] = (rgba[4 * i + k] * a + 127) / 255;
        out[4 * i + 3] = a;
    }
}
