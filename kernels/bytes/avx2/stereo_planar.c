#include "pixels.h"

void stereo_planar(int n, const int16_t *in, int16_t *left, int16_t *right) {
    int i = 0;
    __m256i order = BOTH(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    for (; i + 16 <= n; i += 16) {
        const uint8_t *p = (const uint8_t *)(in + 2 * i);
        __m256i x = _mm256_shuffle_epi8(halves(p, p + 32), order);
        __m256i y = _mm256_shuffle_epi8(halves(p + 16, p + 48), order);
        store(left + i, _mm256_unpacklo_epi64(x, y));
        store(right + i, _mm256_unpackhi_epi64(x, y));
    }
    for (; i < n; i++)
        left[i] = in[2 * i], right[i] = in[2 * i + 1];
}
