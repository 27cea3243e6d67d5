/* What mpc could gain at most if lanes stay together: pc.rs for 64 radii at a time, written with vectors by hand. Which nodes are visited is asked of the
   largest radius alone, so that nothing but the comparison and the count is done in vectors. */

#include <stdint.h>

#ifdef __AVX512F__
enum { BYTES = 64 };
#else
enum { BYTES = 32 };
#endif
enum { DEPTH = 64, LANES = BYTES / 4, VECTORS = 64 / LANES };

typedef float floats __attribute__((vector_size(BYTES)));
typedef int32_t ints __attribute__((vector_size(BYTES)));

static inline float outside(float x, float lo, float hi) {
    float below = lo - x, above = x - hi;
    float gap = below > above ? below : above;
    return gap > 0.0f ? gap : 0.0f;
}

static void group(float x, float y, const float *radius, int count, const float *boxes, const float *points, const int32_t *children, int32_t *result) {
    floats reach[VECTORS];
    ints within[VECTORS] = {0};
    float farthest = -1.0f;
    for (int k = 0; k < VECTORS * LANES; k++) {
        float squared = k < count ? radius[k] * radius[k] : -1.0f;
        reach[k / LANES][k % LANES] = squared;
        farthest = squared > farthest ? squared : farthest;
    }
    int32_t stack[DEPTH] = {0};
    int top = 1;
    while (top > 0) {
        intptr_t node = stack[--top];
        const float *bounds = boxes + 4 * node;
        float gap_x = outside(x, bounds[0], bounds[2]), gap_y = outside(y, bounds[1], bounds[3]);
        if (gap_x * gap_x + gap_y * gap_y > farthest) {
            continue;
        }
        float dx = points[2 * node] - x, dy = points[2 * node + 1] - y;
        float distance = dx * dx + dy * dy;
        for (int v = 0; v < VECTORS; v++) {
            within[v] -= distance <= reach[v];
        }
        int32_t left = children[2 * node], right = children[2 * node + 1];
        if (right > 0) {
            stack[top++] = right;
        }
        if (left > 0) {
            stack[top++] = left;
        }
    }
    for (int k = 0; k < count; k++) {
        result[k] = within[k / LANES][k % LANES];
    }
}

void by_hand(uint64_t *slots) {
    int64_t count = (int64_t)(slots[1] - slots[0]);
    const float *radius = (const float *)slots[4];
    int32_t *result = (int32_t *)slots[8];
    for (int64_t k = 0; k < count; k += VECTORS * LANES) {
        int64_t left = count - k;
        int some = left < VECTORS * LANES ? (int)left : VECTORS * LANES;
        group(float_of(slots[2]), float_of(slots[3]), radius + k, some, (const float *)slots[5], (const float *)slots[6],
              (const int32_t *)slots[7], result + k);
    }
}
