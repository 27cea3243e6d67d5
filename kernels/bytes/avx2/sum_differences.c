#include "pixels.h"

int sum_differences(int n, const uint8_t *a, const uint8_t *b) {
    int i = 0;
    __m256i x = _mm256_setzero_si256(), y = x;
    for (; i + 64 <= n; i += 64) {
        x = _mm256_add_epi64(x, _mm256_sad_epu8(load(a + i), load(b + i)));
        y = _mm256_add_epi64(y, _mm256_sad_epu8(load(a + i + 32), load(b + i + 32)));
    }
    long long s[4];
    store(s, _mm256_add_epi64(x, y));
    int sum = s[0] + s[1] + s[2] + s[3];
    for (; i < n; i++)
        sum += abs(a[i] - b[i]);
    return sum;
}
