#include "pixels.h"

void add_saturated(int n, const uint8_t *a, const uint8_t *b, uint8_t *out) {
    int i = 0;
    for (; i + 64 <= n; i += 64) {
        store(out + i, _mm256_adds_epu8(load(a + i), load(b + i)));
        store(out + i + 32, _mm256_adds_epu8(load(a + i + 32), load(b + i + 32)));
    }
    for (; i < n; i++)
        out[i] = a[i] + b[i] > 255 ? 255 : a[i] + b[i];
}
