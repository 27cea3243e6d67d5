/* Words from bytes of which the highest comes first. */
// survey: n i32 = 2000; in u8[4*n] random; out u32[n]

#include <stdint.h>

void big_endian(int n, const uint8_t *in, uint32_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        const uint8_t *p = in + 4 * i;
        out[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
}
