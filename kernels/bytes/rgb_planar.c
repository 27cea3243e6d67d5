/* Packed RGB into three planes. */
// survey: n i32 = 4000 | 1013; rgb u8[3*n] random; r u8[n]; g u8[n]; b u8[n]

#include <stdint.h>

void rgb_planar(int n, const uint8_t *restrict rgb, uint8_t *restrict r, uint8_t *restrict g, uint8_t *restrict b) {
    //@ loop
    for (int i = 0; i < n; i++) {
        r[i] = rgb[3 * i];
        g[i] = rgb[3 * i + 1];
        b[i] = rgb[3 * i + 2];
    }
}
