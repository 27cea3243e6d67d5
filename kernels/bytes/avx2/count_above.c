#include "pixels.h"

int count_above(int n, const uint8_t *in, uint8_t limit) {
    int i = 0;
    __m256i sign = _mm256_set1_epi8(-128), t = _mm256_xor_si256(_mm256_set1_epi8(limit), sign);
    __m256i zero = _mm256_setzero_si256(), sums = zero;
    while (i + 32 <= n) {
        __m256i x = zero;
        for (int k = 0; k < 255 && i + 32 <= n; k++, i += 32)
            x = _mm256_sub_epi8(x, _mm256_cmpgt_epi8(_mm256_xor_si256(load(in + i), sign), t));
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(x, zero));
    }
    long long s[4];
    store(s, sums);
    int count = s[0] + s[1] + s[2] + s[3];
    for (; i < n; i++)
        count += in[i] > limit;
    return count;
}
