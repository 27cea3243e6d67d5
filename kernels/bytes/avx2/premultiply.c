#include "pixels.h"

static __m256i scaled(__m256i x, __m256i a) {
    __m256i t = _mm256_add_epi16(_mm256_mullo_epi16(x, a), _mm256_set1_epi16(128));
    return _mm256_srli_epi16(_mm256_add_epi16(t, _mm256_srli_epi16(t, 8)), 8);
}

void premultiply(int n, const uint8_t *src, uint8_t *dst) {
    int i = 0;
    __m256i alpha = BOTH(3, -1, 3, -1, 3, -1, -1, -1, 7, -1, 7, -1, 7, -1, -1, -1);
    __m256i alphas = BOTH(11, -1, 11, -1, 11, -1, -1, -1, 15, -1, 15, -1, 15, -1, -1, -1);
    __m256i one = _mm256_set1_epi64x(255ll << 48);
    for (; i + 8 <= n; i += 8) {
        __m256i x = load(src + 4 * i);
        __m256i lo = scaled(low(x), _mm256_or_si256(_mm256_shuffle_epi8(x, alpha), one));
        __m256i hi = scaled(high(x), _mm256_or_si256(_mm256_shuffle_epi8(x, alphas), one));
        store(dst + 4 * i, _mm256_packus_epi16(lo, hi));
    }
    for (; i < n; i++) {
        int a = src[4 * i + 3];
        for (int c = 0; c < 3; c++) {
            int t = src[4 * i + c] * a + 128;
            dst[4 * i + c] = (t + (t >> 8)) >> 8;
        }
        dst[4 * i + 3] = a;
    }
}
