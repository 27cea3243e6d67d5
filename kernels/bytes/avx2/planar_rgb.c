#include "pixels.h"

void planar_rgb(int n, const uint8_t *r, const uint8_t *g, const uint8_t *b, uint8_t *rgb) {
    int i = 0;
    for (; i + 32 <= n; i += 32)
        store3(rgb + 3 * i, load(r + i), load(g + i), load(b + i));
    for (; i < n; i++)
        rgb[3 * i] = r[i], rgb[3 * i + 1] = g[i], rgb[3 * i + 2] = b[i];
}
