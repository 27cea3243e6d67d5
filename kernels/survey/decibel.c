/* Levels of a signal. */
// survey: n i32 = 1000; in f32[n] in 0.001..1; out f32[n]; tolerance 1e-5

#include <math.h>

void decibel(int n, const float *in, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = 20.0f * log10f(in[i]);
}
