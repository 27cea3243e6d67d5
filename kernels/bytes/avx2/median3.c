#include "pixels.h"

void median3(int n, const uint8_t *in, uint8_t *out) {
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i a = load(in + i), b = load(in + i + 1), c = load(in + i + 2);
        __m256i least = _mm256_min_epu8(a, b), most = _mm256_max_epu8(a, b);
        store(out + i, _mm256_max_epu8(least, _mm256_min_epu8(most, c)));
    }
    for (; i < n; i++) {
        uint8_t a = in[i], b = in[i + 1], c = in[i + 2];
        uint8_t least = a < b ? a : b, most = a > b ? a : b;
        out[i] = least > (most < c ? most : c) ? least : most < c ? most : c;
    }
}
