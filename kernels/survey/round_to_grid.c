/* The nearest place of a grid. */
// survey: n i32 = 2000; x f32[n] in -10..10; grid f32 = 0.25; out f32[n]

#include <math.h>

void round_to_grid(int n, const float *x, float grid, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = floorf(x[i] / grid + 0.5f) * grid;
}
