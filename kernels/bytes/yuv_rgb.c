/* Planes of Y, U and V (BT.601, limited range) to packed RGB. */
// survey: n i32 = 4000 | 1013; y u8[n] random; u u8[n] random; v u8[n] random; rgb u8[3*n]

#include <stdint.h>

static uint8_t clamp(int x) { return x < 0 ? 0 : x > 255 ? 255 : x; }

void yuv_rgb(int n, const uint8_t *restrict y, const uint8_t *restrict u, const uint8_t *restrict v,
             uint8_t *restrict rgb) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int c = y[i] - 16, d = u[i] - 128, e = v[i] - 128;
        rgb[3 * i] = clamp((298 * c + 409 * e + 128) >> 8);
        rgb[3 * i + 1] = clamp((298 * c - 100 * d - 208 * e + 128) >> 8);
        rgb[3 * i + 2] = clamp((298 * c + 516 * d + 128) >> 8);
    }
}
