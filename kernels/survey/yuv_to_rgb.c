/* A row of video. */
// survey: w i32 = 1920; y u8[w] random; u u8[w/2] random; v u8[w/2] random; rgb u8[3*w]

#include <stdint.h>

static uint8_t clip(int x) {
    return x < 0 ? 0 : x > 255 ? 255 : x;
}

void yuv_to_rgb(int w, const uint8_t *y, const uint8_t *u, const uint8_t *v, uint8_t *rgb) {
    //@ loop
    for (int i = 0; i < w; i++) {
        int c = 298 * (y[i] - 16), d = u[i / 2] - 128, e = v[i / 2] - 128;
        rgb[3 * i] = clip((c + 409 * e + 128) >> 8);
        rgb[3 * i + 1] = clip((c - 100 * d - 208 * e + 128) >> 8);
        rgb[3 * i + 2] = clip((c + 516 * d + 128) >> 8);
    }
}
