/* pc.rs in C. Without warpline, define WARPLINE_SCALAR. */

#include <stdbool.h>
#include <stdint.h>
#include "warpline.h"

enum { STACK = 64 };

static inline float gap(float x, float lo, float hi) {
    float below = lo - x, above = x - hi;
    float gap = below > above ? below : above;
    return gap > 0.0f ? gap : 0.0f;
}

//@ args i=index, x=varying, y=varying

int32_t pc(int32_t i, float x, float y, float radius, const float *boxes, const float *points, const int32_t *children) {
    (void)i;
    float reach = radius * radius;
    int32_t stack[STACK] = {0};
    int top = 1;
    int32_t count = 0;
    while (top > 0) {
        int32_t node = stack[--top];
        const float *bounds = boxes + 4 * (intptr_t)node;
        float gap_x = gap(x, bounds[0], bounds[2]), gap_y = gap(y, bounds[1], bounds[3]);
        if (!warpline_any(gap_x * gap_x + gap_y * gap_y <= reach)) {
            continue;
        }
        const float *point = points + 2 * (intptr_t)node;
        float dx = point[0] - x, dy = point[1] - y;
        if (dx * dx + dy * dy <= reach) {
            count++;
        }
        int32_t left = children[2 * (intptr_t)node], right = children[2 * (intptr_t)node + 1];
        if (right > 0) {
            stack[top++] = right;
        }
        if (left > 0) {
            stack[top++] = left;
        }
    }
    return count;
}
