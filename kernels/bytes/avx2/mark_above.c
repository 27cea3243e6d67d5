#include "pixels.h"

void mark_above(int n, const uint8_t *in, uint8_t limit, uint8_t mark, uint8_t *out) {
    int i = 0;
    __m256i sign = _mm256_set1_epi8(-128), t = _mm256_xor_si256(_mm256_set1_epi8(limit), sign);
    __m256i new = _mm256_set1_epi8(mark);
    for (; i + 32 <= n; i += 32) {
        __m256i above = _mm256_cmpgt_epi8(_mm256_xor_si256(load(in + i), sign), t);
        store(out + i, _mm256_blendv_epi8(load(out + i), new, above));
    }
    for (; i < n; i++)
        if (in[i] > limit)
            out[i] = mark;
}
