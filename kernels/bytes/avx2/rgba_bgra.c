#include "pixels.h"

void rgba_bgra(int n, const uint8_t *src, uint8_t *dst) {
    int i = 0;
    if (dst + 4 * (size_t)n <= src || src + 4 * (size_t)n <= dst || src == dst) {
        __m256i order = BOTH(2, 1, 0, 3, 6, 5, 4, 7, 10, 9, 8, 11, 14, 13, 12, 15);
        for (; src != dst && i + 16 <= n; i += 16) {
            store(dst + 4 * i, _mm256_shuffle_epi8(load(src + 4 * i), order));
            store(dst + 4 * i + 32, _mm256_shuffle_epi8(load(src + 4 * i + 32), order));
        }
    }
    for (; i < n; i++) {
        dst[4 * i] = src[4 * i + 2];
        dst[4 * i + 1] = src[4 * i + 1];
        dst[4 * i + 2] = src[4 * i];
        dst[4 * i + 3] = src[4 * i + 3];
    }
}
