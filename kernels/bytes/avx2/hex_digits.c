#include "pixels.h"

void hex_digits(int n, const uint8_t *in, uint8_t *out) {
    int i = 0;
    __m256i digits = BOTH('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f');
    __m256i low4 = _mm256_set1_epi8(15);
    for (; i + 32 <= n; i += 32) {
        __m256i x = load(in + i), h = _mm256_and_si256(_mm256_srli_epi16(x, 4), low4);
        h = _mm256_shuffle_epi8(digits, h);
        x = _mm256_shuffle_epi8(digits, _mm256_and_si256(x, low4));
        __m256i lo = _mm256_unpacklo_epi8(h, x), hi = _mm256_unpackhi_epi8(h, x);
        store(out + 2 * i, _mm256_permute2x128_si256(lo, hi, 0x20));
        store(out + 2 * i + 32, _mm256_permute2x128_si256(lo, hi, 0x31));
    }
    for (; i < n; i++)
        out[2 * i] = "0123456789abcdef"[in[i] >> 4], out[2 * i + 1] = "0123456789abcdef"[in[i] & 15];
}
