/* Eight flags become one byte. */
// survey: n i32 = 1000; flags u8[8*n] below 2; out u8[n]

#include <stdint.h>

void pack_bits(int n, const uint8_t *flags, uint8_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint8_t byte = 0;
        for (int k = 0; k < 8; k++)
            if (flags[8 * i + k])
                byte |= 1 << k;
        out[i] = byte;
    }
}
