#include "pixels.h"

void rgb_rgba(int n, const uint8_t *src, uint8_t *dst) {
    int i = 0;
    __m256i order = BOTH(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1), opaque = _mm256_set1_epi32(255 << 24);
    for (; i + 18 <= n; i += 16) {
        __m256i x = halves(src + 3 * i, src + 3 * i + 12), y = halves(src + 3 * i + 24, src + 3 * i + 36);
        store(dst + 4 * i, _mm256_or_si256(_mm256_shuffle_epi8(x, order), opaque));
        store(dst + 4 * i + 32, _mm256_or_si256(_mm256_shuffle_epi8(y, order), opaque));
    }
    for (; i < n; i++) {
        dst[4 * i] = src[3 * i], dst[4 * i + 1] = src[3 * i + 1], dst[4 * i + 2] = src[3 * i + 2];
        dst[4 * i + 3] = 255;
    }
}
