/* Samples for a sound card. */
// survey: n i32 = 3000; in f32[n] in -1.2..1.2; out i16[n]

#include <stdint.h>

void f32_to_i16(int n, const float *in, int16_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int v = (int)(in[i] * 32768.0f);
        out[i] = v > 32767 ? 32767 : v < -32768 ? -32768 : v;
    }
}
