/* Luma of RGBA as a number, as neural networks take it. */
// survey: n i32 = 4000 | 1013; px u8[4*n] random; out f32[n]

#include <stdint.h>

void rgba_float(int n, const uint8_t *restrict px, float *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = 0.299f * px[4 * i] + 0.587f * px[4 * i + 1] + 0.114f * px[4 * i + 2];
}
