#include "pixels.h"

/* Five pixels in 15 of 16 bytes; the last byte is the next store's. */
void bgr_swap(int n, const uint8_t *src, uint8_t *dst) {
    int i = 0;
    __m256i order = BOTH(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 15);
    for (; i + 11 <= n; i += 10) {
        __m256i x = _mm256_shuffle_epi8(halves(src + 3 * i, src + 3 * i + 15), order);
        _mm_storeu_si128((__m128i *)(dst + 3 * i), _mm256_castsi256_si128(x));
        _mm_storeu_si128((__m128i *)(dst + 3 * i + 15), _mm256_extracti128_si256(x, 1));
    }
    for (; i < n; i++) {
        dst[3 * i] = src[3 * i + 2];
        dst[3 * i + 1] = src[3 * i + 1];
        dst[3 * i + 2] = src[3 * i];
    }
}
