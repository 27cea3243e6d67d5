/* Left and right of a stereo signal. */
// survey: frames i32 = 4000; in i16[2*frames] random; left i16[frames]; right i16[frames]

#include <stdint.h>

void deinterleave_i16(int frames, const int16_t *in, int16_t *left, int16_t *right) {
    //@ loop
    for (int i = 0; i < frames; i++) {
        left[i] = in[2 * i];
        right[i] = in[2 * i + 1];
    }
}
