#include "pixels.h"

static __m256i over(__m256i s, __m256i d, __m256i a) {
    __m256i b = _mm256_sub_epi16(_mm256_set1_epi16(255), a);
    __m256i x = _mm256_add_epi16(_mm256_mullo_epi16(s, a), _mm256_mullo_epi16(d, b));
    x = _mm256_add_epi16(x, _mm256_set1_epi16(128));
    return _mm256_srli_epi16(_mm256_add_epi16(x, _mm256_srli_epi16(x, 8)), 8);
}

void alpha_over(int n, const uint8_t *src, const uint8_t *dst, const uint8_t *alpha, uint8_t *out) {
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i s = load(src + i), d = load(dst + i), a = load(alpha + i);
        store(out + i, _mm256_packus_epi16(over(low(s), low(d), low(a)), over(high(s), high(d), high(a))));
    }
    for (; i < n; i++) {
        int a = alpha[i], x = src[i] * a + dst[i] * (255 - a) + 128;
        out[i] = (x + (x >> 8)) >> 8;
    }
}
