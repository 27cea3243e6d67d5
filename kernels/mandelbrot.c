/* mandelbrot.rs in C. */
#include <stdint.h>

//@ args i=index

enum { WIDTH = 512, LIMIT = 256 };

int32_t mandelbrot(int32_t i, float left, float top, float step_x, float step_y) {
    uint32_t x = (uint32_t)i % WIDTH, y = (uint32_t)i / WIDTH;
    float cx = left + (float)(int32_t)x * step_x;
    float cy = top + (float)(int32_t)y * step_y;
    float zx = 0, zy = 0, xx, yy;
    int32_t n = 0;
    while (n < LIMIT) {
        xx = zx * zx, yy = zy * zy;
        if (xx + yy > 4.0f)
            break;
        zy = 2.0f * zx * zy + cy;
        zx = xx - yy + cx;
        n++;
    }
    return n;
}
