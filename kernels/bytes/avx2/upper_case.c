#include "pixels.h"

void upper_case(int n, const uint8_t *in, uint8_t *out) {
    int i = 0;
    __m256i below = _mm256_set1_epi8('a' - 128), least = _mm256_set1_epi8(-128 + 26), bit = _mm256_set1_epi8(32);
    for (; i + 32 <= n; i += 32) {
        __m256i x = load(in + i), letter = _mm256_cmpgt_epi8(least, _mm256_sub_epi8(x, below));
        store(out + i, _mm256_sub_epi8(x, _mm256_and_si256(letter, bit)));
    }
    for (; i < n; i++)
        out[i] = in[i] >= 'a' && in[i] <= 'z' ? in[i] - 32 : in[i];
}
