#include "pixels.h"

void background(int n, const uint8_t *frame, uint8_t *model) {
    int i = 0;
    __m256i sign = _mm256_set1_epi8(-128);
    for (; i + 32 <= n; i += 32) {
        __m256i m = load(model + i), f = _mm256_xor_si256(load(frame + i), sign), s = _mm256_xor_si256(m, sign);
        m = _mm256_sub_epi8(m, _mm256_cmpgt_epi8(f, s));
        store(model + i, _mm256_add_epi8(m, _mm256_cmpgt_epi8(s, f)));
    }
    for (; i < n; i++)
        model[i] += (model[i] < frame[i]) - (model[i] > frame[i]);
}
