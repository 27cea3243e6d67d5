/* Square roots. */
// survey: n i32 = 4000; x f32[n] in 0..9; out f32[n]

#include <math.h>

void sqrt_f32(int n, const float *x, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = sqrtf(x[i]);
}
