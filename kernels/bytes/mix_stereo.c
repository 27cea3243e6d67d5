/* Two mono signals into a stereo one, each at a volume of its own. */
// survey: n i32 = 4000 | 1013; a i16[n] random; b i16[n] random; ga i16 = 20000; gb i16 = 30000; out i16[2*n]

#include <stdint.h>

void mix_stereo(int n, const int16_t *restrict a, const int16_t *restrict b, int16_t ga, int16_t gb,
                int16_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        out[2 * i] = (a[i] * ga) >> 15;
        out[2 * i + 1] = (b[i] * gb) >> 15;
    }
}
