#include "pixels.h"

void rgb_gray(int n, const uint8_t *rgb, uint8_t *out) {
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i r, g, b, half = _mm256_set1_epi16(128);
        load3(rgb + 3 * i, &r, &g, &b);
        __m256i wr = _mm256_set1_epi16(77), wg = _mm256_set1_epi16(150), wb = _mm256_set1_epi16(29);
        __m256i x[2];
        for (int k = 0; k < 2; k++) {
            __m256i r16 = k ? high(r) : low(r), g16 = k ? high(g) : low(g), b16 = k ? high(b) : low(b);
            __m256i sum = _mm256_add_epi16(_mm256_mullo_epi16(r16, wr), _mm256_mullo_epi16(g16, wg));
            sum = _mm256_add_epi16(sum, _mm256_add_epi16(_mm256_mullo_epi16(b16, wb), half));
            x[k] = _mm256_srli_epi16(sum, 8);
        }
        store(out + i, _mm256_packus_epi16(x[0], x[1]));
    }
    for (; i < n; i++)
        out[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2] + 128) >> 8;
}
