/* How far two frames differ. */
// survey: n i32 = 4000 | 1013; a u8[n] random; b u8[n] random; out u8[n]

#include <stdint.h>
#include <stdlib.h>

void abs_difference(int n, const uint8_t *restrict a, const uint8_t *restrict b, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = abs(a[i] - b[i]);
}
