#include "pixels.h"

static __m256i gained(__m256i x, __m256i g) {
    return _mm256_or_si256(_mm256_slli_epi16(_mm256_mulhi_epi16(x, g), 1),
                           _mm256_srli_epi16(_mm256_mullo_epi16(x, g), 15));
}

void mix_stereo(int n, const int16_t *a, const int16_t *b, int16_t ga, int16_t gb, int16_t *out) {
    int i = 0;
    __m256i g = _mm256_set1_epi16(ga), h = _mm256_set1_epi16(gb);
    for (; i + 16 <= n; i += 16) {
        __m256i x = gained(load(a + i), g), y = gained(load(b + i), h);
        __m256i lo = _mm256_unpacklo_epi16(x, y), hi = _mm256_unpackhi_epi16(x, y);
        store(out + 2 * i, _mm256_permute2x128_si256(lo, hi, 0x20));
        store(out + 2 * i + 16, _mm256_permute2x128_si256(lo, hi, 0x31));
    }
    for (; i < n; i++)
        out[2 * i] = (a[i] * ga) >> 15, out[2 * i + 1] = (b[i] * gb) >> 15;
}
