/* Coefficients become pixels. */
// survey: n i32 = 4000; in i16[n] in -300..600; out u8[n]

#include <stdint.h>

void i16_to_u8(int n, const int16_t *in, uint8_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int v = in[i] + 128;
        out[i] = v < 0 ? 0 : v > 255 ? 255 : v;
    }
}
