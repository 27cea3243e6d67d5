#include "pixels.h"

int dot_shorts(int n, const int16_t *a, const int16_t *b) {
    int i = 0;
    __m256i x = _mm256_setzero_si256(), y = x;
    for (; i + 32 <= n; i += 32) {
        x = _mm256_add_epi32(x, _mm256_madd_epi16(load(a + i), load(b + i)));
        y = _mm256_add_epi32(y, _mm256_madd_epi16(load(a + i + 16), load(b + i + 16)));
    }
    int s[8];
    store(s, _mm256_add_epi32(x, y));
    int sum = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
    for (; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}
