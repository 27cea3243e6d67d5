/* Two numbers of four bits in each byte. */
// survey: n i32 = 4000; in u8[n] random; out u8[2*n]

#include <stdint.h>

void unpack_nibbles(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        out[2 * i] = in[i] & 15;
        out[2 * i + 1] = in[i] >> 4;
    }
}
