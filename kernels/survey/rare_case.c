/* Something expensive that few elements need. */
// survey: n i32 = 4000; x f32[n] in 0..1; out f32[n]; tolerance 1e-5

#include <math.h>

void rare_case(int n, const float *x, float *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        if (x[i] > 0.995f)
            out[i] = expf(x[i]) * cosf(x[i]);
        else
            out[i] = x[i] * x[i];
    }
}
