/* The kernel of vp.rs for compilers that do not know lanes: the same computation, where one lane alone is all there are. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { STACK = 64 };

static inline bool any(bool condition) { return condition; }
static inline uint32_t popcount(bool condition) { return condition; }

int32_t vp(int32_t i, float x, float y, const float *points, const float *rings, const int32_t *children) {
    (void)i;
    int32_t nearest = 0;
    float distance = INFINITY;
    int32_t stack[STACK] = {0};
    int top = 1;
    while (top > 0) {
        int32_t node = stack[--top];
        const float *point = points + 2 * (intptr_t)node;
        float dx = x - point[0], dy = y - point[1];
        float d = sqrtf(dx * dx + dy * dy);
        if ((d < distance) | ((d == distance) & (node < nearest))) {
            nearest = node;
            distance = d;
        }
        const float *ring = rings + 4 * (intptr_t)node;
        float least = d - distance, most = d + distance;
        int32_t inside = children[2 * (intptr_t)node], outside = children[2 * (intptr_t)node + 1];
        bool to_inside = inside > 0 && any((least <= ring[1]) & (most >= ring[0]));
        bool to_outside = outside > 0 && any((least <= ring[3]) & (most >= ring[2]));
        if (to_inside && to_outside) {
            bool outside_first = 2 * popcount(d > ring[1]) > popcount(true);
            stack[top++] = outside_first ? inside : outside;
            stack[top++] = outside_first ? outside : inside;
        } else if (to_inside || to_outside) {
            stack[top++] = to_inside ? inside : outside;
        }
    }
    return nearest;
}
