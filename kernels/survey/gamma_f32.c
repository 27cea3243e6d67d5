/* Brightness as monitors have it. */
// survey: n i32 = 1000; in f32[n] in 0..1; gamma f32 = 2.2; out f32[n]; tolerance 1e-5

#include <math.h>

void gamma_f32(int n, const float *in, float gamma, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = powf(in[i], 1.0f / gamma);
}
