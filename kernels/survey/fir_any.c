/* A filter of any length. */
// survey: n i32 = 1000; taps i32 = 24; c i16[taps] in -1000..1000; in i16[n+taps] random; out i16[n]

#include <stdint.h>

void fir_any(int n, int taps, const int16_t *c, const int16_t *in, int16_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int32_t sum = 0;
        for (int k = 0; k < taps; k++)
            sum += (c[k] * in[i + k]) >> 8;
        out[i] = sum >> 7;
    }
}
