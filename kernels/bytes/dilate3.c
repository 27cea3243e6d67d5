/* The greatest of three neighbours in each of three rows. */
// survey: n i32 = 4000 | 1013; a u8[n+2] random; b u8[n+2] random; c u8[n+2] random; out u8[n]

#include <stdint.h>

void dilate3(int n, const uint8_t *restrict a, const uint8_t *restrict b, const uint8_t *restrict c,
             uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint8_t most = 0;
        for (int k = 0; k < 3; k++) {
            if (a[i + k] > most) most = a[i + k];
            if (b[i + k] > most) most = b[i + k];
            if (c[i + k] > most) most = c[i + k];
        }
        out[i] = most;
    }
}
