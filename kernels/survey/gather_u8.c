/* A picture that is moved by a map. */
// survey: n i32 = 4000; map u16[n] below n; in u8[n] random; out u8[n]

#include <stdint.h>

void gather_u8(int n, const uint16_t *restrict map, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = in[map[i]];
}
