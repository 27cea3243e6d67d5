#include <stdint.h>
void rgb_planar(int n, const uint8_t *restrict rgb, uint8_t *restrict r, uint8_t *restrict g, uint8_t *restrict b) {
    //@ loop
    for (int i = 0; i < n; i++) {
        r[i] = rgb[3*i];
        g[i] = rgb[3*i+1];
        b[i] = rgb[3*i+2];
    }
}
