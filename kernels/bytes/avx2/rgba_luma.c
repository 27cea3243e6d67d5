#include "pixels.h"

void rgba_luma(int n, const uint8_t *px, uint8_t *out) {
    int i = 0;
    __m256i even = _mm256_set1_epi32(54 | 19 << 16), odd = _mm256_set1_epi32(183), low8 = _mm256_set1_epi16(255);
    __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (; i + 32 <= n; i += 32) {
        __m256i x[4];
        for (int k = 0; k < 4; k++) {
            __m256i p = load(px + 4 * i + 32 * k);
            __m256i rb = _mm256_madd_epi16(_mm256_and_si256(p, low8), even);
            __m256i ga = _mm256_madd_epi16(_mm256_srli_epi16(p, 8), odd);
            x[k] = _mm256_srli_epi32(_mm256_add_epi32(rb, ga), 8);
        }
        __m256i a = _mm256_packus_epi32(x[0], x[1]), b = _mm256_packus_epi32(x[2], x[3]);
        store(out + i, _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order));
    }
    for (; i < n; i++)
        out[i] = (px[4 * i] * 54 + px[4 * i + 1] * 183 + px[4 * i + 2] * 19) >> 8;
}
