/* Packed YUV 4:2:2 into planes. */
// survey: n i32 = 4000 | 1013; in u8[4*n] random; y u8[2*n]; u u8[n]; v u8[n]

#include <stdint.h>

void yuyv_planar(int n, const uint8_t *restrict in, uint8_t *restrict y, uint8_t *restrict u, uint8_t *restrict v) {
    //@ loop
    for (int i = 0; i < n; i++) {
        y[2 * i] = in[4 * i];
        y[2 * i + 1] = in[4 * i + 2];
        u[i] = in[4 * i + 1];
        v[i] = in[4 * i + 3];
    }
}
