#include "pixels.h"

void binarize(int n, const uint8_t *in, uint8_t limit, uint8_t *out) {
    int i = 0;
    __m256i sign = _mm256_set1_epi8(-128), t = _mm256_xor_si256(_mm256_set1_epi8(limit), sign);
    for (; i + 64 <= n; i += 64) {
        store(out + i, _mm256_cmpgt_epi8(_mm256_xor_si256(load(in + i), sign), t));
        store(out + i + 32, _mm256_cmpgt_epi8(_mm256_xor_si256(load(in + i + 32), sign), t));
    }
    for (; i < n; i++)
        out[i] = in[i] > limit ? 255 : 0;
}
