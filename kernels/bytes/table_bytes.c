/* A table for bytes, such as a gamma curve. */
// survey: n i32 = 4000 | 1013; table u8[256] random; in u8[n] random; out u8[n]

#include <stdint.h>

void table_bytes(int n, const uint8_t table[static 256], const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = table[in[i]];
}
