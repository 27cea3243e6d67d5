#include "pixels.h"

void swap_bytes(int n, const uint16_t *src, uint16_t *dst) {
    int i = 0;
    __m256i order = BOTH(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    for (; i + 16 <= n; i += 16)
        store(dst + i, _mm256_shuffle_epi8(load(src + i), order));
    for (; i < n; i++)
        dst[i] = (uint16_t)(src[i] << 8 | src[i] >> 8);
}
