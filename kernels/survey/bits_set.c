/* How many bits are set, one after the other. */
// survey: n i32 = 1000; in u32[n] random; out u8[n]

#include <stdint.h>

void bits_set(int n, const uint32_t *in, uint8_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint32_t x = in[i];
        int count = 0;
        while (x) {
            x &= x - 1;
            count++;
        }
        out[i] = count;
    }
}
