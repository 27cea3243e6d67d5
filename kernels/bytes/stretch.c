/* Contrast stretched from a range to all of it, in fixed-point arithmetic. */
// survey: n i32 = 4000 | 1013; in u8[n] random; low u8 = 40; scale u16 = 350; out u8[n]

#include <stdint.h>

void stretch(int n, const uint8_t *restrict in, uint8_t low, uint16_t scale, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int x = in[i] > low ? in[i] - low : 0;
        x = x * scale >> 8;
        out[i] = x > 255 ? 255 : x;
    }
}
