/* Numbers as bytes, with a scale and a zero. */
// survey: n i32 = 4000 | 1013; in f32[n] in -2..2; scale f32 = 100; zero i32 = 128; out u8[n]

#include <stdint.h>

void quantize(int n, const float *restrict in, float scale, int zero, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        float x = in[i] * scale;
        int q = (int)(x < 0 ? x - 0.5f : x + 0.5f) + zero;
        out[i] = q < 0 ? 0 : q > 255 ? 255 : q;
    }
}
