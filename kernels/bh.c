/* bh.rs in C. Without warpline, define WARPLINE_SCALAR. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "warpline.h"

//@ args i=index

void bh(int32_t i, int32_t cells, float softening, const float *xs, const float *ys, const float *zs, const float *masses,
        const float *openings, const int32_t *nexts, float *ax, float *ay, float *az) {
    float x = xs[i], y = ys[i], z = zs[i];
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;
    int32_t cell = 0, own = 0;
    while (cell < cells) {
        const float *mass = masses + 4 * (intptr_t)cell;
        float opening = openings[cell];
        int32_t next = nexts[cell];
        float dx = mass[0] - x, dy = mass[1] - y, dz = mass[2] - z;
        float distance2 = dx * dx + dy * dy + dz * dz;
        bool here = cell >= own, far = distance2 >= opening;
        if (warpline_any(here & far)) {
            float softened = distance2 + softening;
            float force = mass[3] / (softened * sqrtf(softened));
            if (here & far) {
                sx += dx * force;
                sy += dy * force;
                sz += dz * force;
                own = next;
            }
        }
        cell = warpline_any(here & !far) ? cell + 1 : next;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
}
