/* Adds bytes; what is too large becomes 255. */
// survey: let N = 8000; out u8[N]; a u8[N] random; b u8[N] random; n i32 = N

#include <stdint.h>

void add_saturated_u8(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b, int n) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int sum = a[i] + b[i];
        out[i] = sum > 255 ? 255 : sum;
    }
}
