/* A table for bytes. */
// survey: n i32 = 8000; lut u8[256] random; in u8[n] random; out u8[n]

#include <stdint.h>

void lut_u8(int n, const uint8_t lut[256], const uint8_t *in, uint8_t *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = lut[in[i]];
}
