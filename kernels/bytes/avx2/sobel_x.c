#include "pixels.h"

static __m256i row(__m256i left, __m256i right) { return _mm256_sub_epi16(right, left); }

void sobel_x(int n, const uint8_t *a, const uint8_t *b, const uint8_t *c, uint8_t *out) {
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i a0 = load(a + i), a2 = load(a + i + 2), b0 = load(b + i), b2 = load(b + i + 2);
        __m256i c0 = load(c + i), c2 = load(c + i + 2);
        __m256i lo = row(low(b0), low(b2)), hi = row(high(b0), high(b2));
        lo = _mm256_add_epi16(_mm256_add_epi16(lo, lo), _mm256_add_epi16(row(low(a0), low(a2)), row(low(c0), low(c2))));
        hi = _mm256_add_epi16(_mm256_add_epi16(hi, hi),
                              _mm256_add_epi16(row(high(a0), high(a2)), row(high(c0), high(c2))));
        store(out + i, _mm256_packus_epi16(_mm256_abs_epi16(lo), _mm256_abs_epi16(hi)));
    }
    for (; i < n; i++) {
        int g = abs(a[i + 2] - a[i] + 2 * (b[i + 2] - b[i]) + c[i + 2] - c[i]);
        out[i] = g > 255 ? 255 : g;
    }
}
