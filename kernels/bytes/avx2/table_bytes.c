#include "pixels.h"

void table_bytes(int n, const uint8_t *table, const uint8_t *in, uint8_t *out) {
    int i = 0;
    __m256i rows[16];
    for (int k = 0; k < 16; k++)
        rows[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(table + 16 * k)));
    __m256i sixteen = _mm256_set1_epi8(16), most = _mm256_set1_epi8(112);
    for (; i + 32 <= n; i += 32) {
        /* The k-th row's bytes where 16 k have been taken off the index and less than 16 are left, else zero. */
        __m256i x = load(in + i), all = _mm256_setzero_si256();
        for (int k = 0; k < 16; k++) {
            all = _mm256_or_si256(all, _mm256_shuffle_epi8(rows[k], _mm256_adds_epu8(x, most)));
            x = _mm256_sub_epi8(x, sixteen);
        }
        store(out + i, all);
    }
    for (; i < n; i++)
        out[i] = table[in[i]];
}
