/* The kernel of km.rs for compilers that do not know lanes: the same computation, where one lane alone is all there are. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { STACK = 64 };

static inline bool any(bool condition) { return condition; }
static inline uint32_t popcount(bool condition) { return condition; }

static inline float gap(float x, float lo, float hi) {
    float below = lo - x, above = x - hi;
    float gap = below > above ? below : above;
    return gap > 0.0f ? gap : 0.0f;
}

int32_t km(int32_t i, float x, float y, const int32_t *axes, const float *boxes, const float *points, const int32_t *children) {
    (void)i;
    int32_t nearest = 0;
    float distance = INFINITY;
    int32_t stack[STACK] = {0};
    int top = 1;
    while (top > 0) {
        int32_t node = stack[--top];
        const float *bounds = boxes + 4 * (intptr_t)node;
        float gap_x = gap(x, bounds[0], bounds[2]), gap_y = gap(y, bounds[1], bounds[3]);
        if (!any(gap_x * gap_x + gap_y * gap_y <= distance)) {
            continue;
        }
        const float *point = points + 2 * (intptr_t)node;
        float dx = x - point[0], dy = y - point[1];
        float d = dx * dx + dy * dy;
        if ((d < distance) | ((d == distance) & (node < nearest))) {
            nearest = node;
            distance = d;
        }
        int32_t left = children[2 * (intptr_t)node], right = children[2 * (intptr_t)node + 1];
        if (right > 0) {
            float beyond = axes[node] == 0 ? dx : dy;
            bool right_first = 2 * popcount(beyond > 0.0f) > popcount(true);
            stack[top++] = right_first ? left : right;
            stack[top++] = right_first ? right : left;
        } else if (left > 0) {
            stack[top++] = left;
        }
    }
    return nearest;
}
