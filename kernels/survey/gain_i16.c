/* The volume of an audio signal, with clipping. */
// survey: let N = 4000 | 7; s i16[N] random; count i32 = N; gain f32 = 0.75

#include <stdint.h>

void gain_i16(int16_t *s, int count, float gain) {
    //@ loop
    for (int i = 0; i < count; i++) {
        float v = s[i] * gain;
        if (v > 32767.0f)
            v = 32767.0f;
        if (v < -32768.0f)
            v = -32768.0f;
        s[i] = (int16_t)v;
    }
}
