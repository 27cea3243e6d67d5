#include "pixels.h"

void rgba_rgb(int n, const uint8_t *src, uint8_t *dst) {
    int i = 0;
    __m128i order = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    for (; i + 16 <= n; i += 16) {
        const __m128i *from = (const __m128i *)(src + 4 * i);
        __m128i a = _mm_shuffle_epi8(_mm_loadu_si128(from), order);
        __m128i b = _mm_shuffle_epi8(_mm_loadu_si128(from + 1), order);
        __m128i c = _mm_shuffle_epi8(_mm_loadu_si128(from + 2), order);
        __m128i d = _mm_shuffle_epi8(_mm_loadu_si128(from + 3), order);
        __m128i *to = (__m128i *)(dst + 3 * i);
        _mm_storeu_si128(to, _mm_or_si128(a, _mm_slli_si128(b, 12)));
        _mm_storeu_si128(to + 1, _mm_or_si128(_mm_srli_si128(b, 4), _mm_slli_si128(c, 8)));
        _mm_storeu_si128(to + 2, _mm_or_si128(_mm_srli_si128(c, 8), _mm_slli_si128(d, 4)));
    }
    for (; i < n; i++)
        dst[3 * i] = src[4 * i], dst[3 * i + 1] = src[4 * i + 1], dst[3 * i + 2] = src[4 * i + 2];
}
