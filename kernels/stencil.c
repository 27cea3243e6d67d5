/* stencil.rs in C. */
#include <stddef.h>
#include <stdint.h>

//@ args i=index

enum { REACH = 4 };

void stencil(int32_t i, int32_t row, int32_t plane, const float *weights, const float *squared_speed, const float *now,
             const float *before, float *next) {
    const float *at = now + i;
    float laplacian = weights[0] * 3.0f * at[0];
    for (ptrdiff_t k = 1; k <= REACH; k++) {
        float across = at[k] + at[-k];
        float along = at[k * row] + at[-k * row];
        float through = at[k * plane] + at[-k * plane];
        laplacian += weights[k] * (across + along + through);
    }
    next[i] = 2.0f * at[0] - before[i] + squared_speed[i] * laplacian;
}
