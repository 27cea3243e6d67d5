#include "pixels.h"

void yuyv_planar(int n, const uint8_t *in, uint8_t *y, uint8_t *u, uint8_t *v) {
    int i = 0;
    __m256i low8 = _mm256_set1_epi16(255);
    for (; i + 32 <= n; i += 32) {
        __m256i a = load(in + 4 * i), b = load(in + 4 * i + 32), c = load(in + 4 * i + 64), d = load(in + 4 * i + 96);
        __m256i y0 = _mm256_packus_epi16(_mm256_and_si256(a, low8), _mm256_and_si256(b, low8));
        __m256i y1 = _mm256_packus_epi16(_mm256_and_si256(c, low8), _mm256_and_si256(d, low8));
        store(y + 2 * i, _mm256_permute4x64_epi64(y0, 0xd8));
        store(y + 2 * i + 32, _mm256_permute4x64_epi64(y1, 0xd8));
        __m256i c0 = _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
        __m256i c1 = _mm256_packus_epi16(_mm256_srli_epi16(c, 8), _mm256_srli_epi16(d, 8));
        __m256i u0 = _mm256_packus_epi16(_mm256_and_si256(c0, low8), _mm256_and_si256(c1, low8));
        __m256i v0 = _mm256_packus_epi16(_mm256_srli_epi16(c0, 8), _mm256_srli_epi16(c1, 8));
        __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        store(u + i, _mm256_permutevar8x32_epi32(u0, order));
        store(v + i, _mm256_permutevar8x32_epi32(v0, order));
    }
    for (; i < n; i++)
        y[2 * i] = in[4 * i], y[2 * i + 1] = in[4 * i + 2], u[i] = in[4 * i + 1], v[i] = in[4 * i + 3];
}
