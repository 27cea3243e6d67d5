#include "pixels.h"

void abs_difference(int n, const uint8_t *a, const uint8_t *b, uint8_t *out) {
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i x = load(a + i), y = load(b + i);
        store(out + i, _mm256_sub_epi8(_mm256_max_epu8(x, y), _mm256_min_epu8(x, y)));
    }
    for (; i < n; i++)
        out[i] = abs(a[i] - b[i]);
}
