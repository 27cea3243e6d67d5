#include "pixels.h"

void invert_rgb(int n, uint8_t *rgb) {
    int i = 0;
    __m256i all = _mm256_set1_epi8(-1);
    for (; i + 32 <= 3 * n; i += 32)
        store(rgb + i, _mm256_xor_si256(load(rgb + i), all));
    for (; i < 3 * n; i++)
        rgb[i] = 255 - rgb[i];
}
