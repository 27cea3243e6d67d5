/* How much a pixel differs from its four neighbours. */
// survey: n i32 = 4000 | 1013; a u8[n+2] random; b u8[n+2] random; c u8[n+2] random; out u8[n]

#include <stdint.h>
#include <stdlib.h>

void laplace(int n, const uint8_t *restrict a, const uint8_t *restrict b, const uint8_t *restrict c,
             uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int d = abs(4 * b[i + 1] - b[i] - b[i + 2] - a[i + 1] - c[i + 1]);
        out[i] = d > 255 ? 255 : d;
    }
}
