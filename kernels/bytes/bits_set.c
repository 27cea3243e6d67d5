/* How many bits of each byte are set, by a table of half bytes. */
// survey: n i32 = 4000 | 1013; in u8[n] random; out u8[n]

#include <stdint.h>

void bits_set(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    static const uint8_t bits[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = bits[in[i] & 15] + bits[in[i] >> 4];
}
