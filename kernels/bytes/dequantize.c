/* Bytes as numbers, with a scale and a zero. */
// survey: n i32 = 4000 | 1013; in u8[n] random; scale f32 = 0.01; zero i32 = 128; out f32[n]

#include <stdint.h>

void dequantize(int n, const uint8_t *restrict in, float scale, int zero, float *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = (in[i] - zero) * scale;
}
