/* Every byte by another. */
// survey: n i32 = 2000; a u8[n] random; b u8[n] in 1..255; out u8[n]

#include <stdint.h>

void divide_u8(int n, const uint8_t *a, const uint8_t *b, uint8_t *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = a[i] / b[i];
}
