/* Linear light from samples with 12 bits. */
// survey: n i32 = 4000; lut f32[4096] in 0..1; in u16[n] below 4096; out f32[n]

#include <stdint.h>

void lut_u16_f32(int n, const float *lut, const uint16_t *in, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = lut[in[i] & 4095];
}
