/* Three planes into packed RGB. */
// survey: n i32 = 4000 | 1013; r u8[n] random; g u8[n] random; b u8[n] random; rgb u8[3*n]

#include <stdint.h>

void planar_rgb(int n, const uint8_t *restrict r, const uint8_t *restrict g, const uint8_t *restrict b,
                uint8_t *restrict rgb) {
    //@ loop
    for (int i = 0; i < n; i++) {
        rgb[3 * i] = r[i];
        rgb[3 * i + 1] = g[i];
        rgb[3 * i + 2] = b[i];
    }
}
