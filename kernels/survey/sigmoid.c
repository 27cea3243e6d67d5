/* What neurons of old did. */
// survey: n i32 = 2000 | 7; x f32[n] in -6..6; out f32[n]; tolerance 1e-5

#include <math.h>

void sigmoid(int n, const float *x, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = 1.0f / (1.0f + expf(-x[i]));
}
