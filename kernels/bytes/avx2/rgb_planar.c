#include "pixels.h"

void rgb_planar(int n, const uint8_t *rgb, uint8_t *r, uint8_t *g, uint8_t *b) {
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i x, y, z;
        load3(rgb + 3 * i, &x, &y, &z);
        store(r + i, x), store(g + i, y), store(b + i, z);
    }
    for (; i < n; i++)
        r[i] = rgb[3 * i], g[i] = rgb[3 * i + 1], b[i] = rgb[3 * i + 2];
}
