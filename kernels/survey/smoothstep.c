/* From 0 to 1 without corners. */
// survey: n i32 = 3000; x f32[n] in -1..2; out f32[n]

#include <math.h>

static float smooth(float t) {
    t = fminf(fmaxf(t, 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

void smoothstep(int n, const float *x, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = smooth(x[i]);
}
