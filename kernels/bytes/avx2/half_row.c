#include "pixels.h"

void half_row(int n, const uint8_t *a, const uint8_t *b, uint8_t *out) {
    int i = 0;
    __m256i ones = _mm256_set1_epi8(1), two = _mm256_set1_epi16(2);
    for (; i + 32 <= n; i += 32) {
        __m256i x[2];
        for (int k = 0; k < 2; k++) {
            __m256i s = _mm256_maddubs_epi16(load(a + 2 * i + 32 * k), ones);
            s = _mm256_add_epi16(s, _mm256_maddubs_epi16(load(b + 2 * i + 32 * k), ones));
            x[k] = _mm256_srli_epi16(_mm256_add_epi16(s, two), 2);
        }
        store(out + i, _mm256_permute4x64_epi64(_mm256_packus_epi16(x[0], x[1]), 0xd8));
    }
    for (; i < n; i++)
        out[i] = (a[2 * i] + a[2 * i + 1] + b[2 * i] + b[2 * i + 1] + 2) >> 2;
}
