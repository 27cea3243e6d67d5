/* Two rows at half the size. */
// survey: n i32 = 4000 | 1013; a u8[2*n] random; b u8[2*n] random; out u8[n]

#include <stdint.h>

void half_row(int n, const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = (a[2 * i] + a[2 * i + 1] + b[2 * i] + b[2 * i + 1] + 2) >> 2;
}
