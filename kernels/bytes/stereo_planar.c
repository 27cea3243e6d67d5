/* Left and right of a stereo signal. */
// survey: n i32 = 4000 | 1013; in i16[2*n] random; left i16[n]; right i16[n]

#include <stdint.h>

void stereo_planar(int n, const int16_t *restrict in, int16_t *restrict left, int16_t *restrict right) {
    //@ loop
    for (int i = 0; i < n; i++) {
        left[i] = in[2 * i];
        right[i] = in[2 * i + 1];
    }
}
