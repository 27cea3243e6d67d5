/* A checksum of each word, by bytes and a table. */
// survey: n i32 = 2000; table u32[256] random; words u32[n] random; out u32[n]

#include <stdint.h>

void crc_table(int n, const uint32_t *table, const uint32_t *words, uint32_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint32_t crc = 0xffffffff, w = words[i];
        for (int k = 0; k < 4; k++) {
            crc = table[(crc ^ w) & 0xff] ^ (crc >> 8);
            w >>= 8;
        }
        out[i] = ~crc;
    }
}
