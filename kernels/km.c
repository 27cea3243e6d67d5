/* km.rs in C. Without warpline, define WARPLINE_SCALAR. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "warpline.h"

enum { STACK = 32, BUCKET = 8 };

static inline float gap(float x, float lo, float hi) {
    float below = lo - x, above = x - hi;
    float gap = below > above ? below : above;
    return gap > 0.0f ? gap : 0.0f;
}

//@ args i=index, x=varying, y=varying

int32_t km(int32_t i, float x, float y, int32_t depth, const float *cuts, const float *boxes, const float *centroids) {
    (void)i;
    int32_t buckets = 1 << depth, nearest = 0;
    float distance = INFINITY;
    int32_t stack[STACK];
    stack[0] = 1;
    int top = 1;
    while (top > 0) {
        int32_t node = stack[--top];
        const float *bounds = boxes + 4 * (intptr_t)node;
        float gap_x = gap(x, bounds[0], bounds[2]), gap_y = gap(y, bounds[1], bounds[3]);
        if (!warpline_any(gap_x * gap_x + gap_y * gap_y <= distance)) {
            continue;
        }
        if (node >= buckets) {
            for (int32_t k = 0; k < BUCKET; k++) {
                int32_t centroid = BUCKET * (node - buckets) + k;
                const float *at = centroids + 2 * (intptr_t)centroid;
                float dx = x - at[0], dy = y - at[1];
                float d = dx * dx + dy * dy;
                int32_t first = centroid < nearest ? centroid : nearest;
                int32_t of_equals = d == distance ? first : nearest;
                nearest = d < distance ? centroid : of_equals;
                distance = d < distance ? d : distance;
            }
        } else {
            const float *cut = cuts + 2 * (intptr_t)node;
            float beyond = (cut[1] == 0.0f ? x : y) - cut[0];
            bool right_first = 2 * warpline_popcount(beyond > 0.0f) > warpline_popcount(true);
            stack[top++] = 2 * node + !right_first;
            stack[top++] = 2 * node + right_first;
        }
    }
    return nearest;
}
