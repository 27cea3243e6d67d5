/* vp.rs in C. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { LEVELS = 32, BUCKET = 8 };

typedef struct {
    int32_t point;
    float distance;
} nearest_t;

typedef struct {
    float x, y;
    const float *nodes, *points;
} search_t;

typedef struct {
    bool is_outside;
    float margin;
} side_t;

static inline side_t side_of(const search_t *search, int32_t k) {
    const float *node = search->nodes + 4 * (intptr_t)k;
    float x = node[0], y = node[1], inside = node[2], outside = node[3];
    float dx = search->x - x, dy = search->y - y;
    float distance = sqrtf(dx * dx + dy * dy);
    bool is_outside = distance > inside;
    float margin = is_outside ? distance - inside : outside - distance;
    margin = margin > 0.0f ? margin : 0.0f;
    return (side_t){is_outside, margin * margin};
}

static inline void offer(const search_t *search, int32_t bucket, nearest_t *nearest) {
    const float *points = search->points + 2 * BUCKET * (intptr_t)bucket;
    for (int k = 0; k < BUCKET; k++) {
        float dx = search->x - points[2 * k], dy = search->y - points[2 * k + 1];
        float distance = dx * dx + dy * dy;
        if (distance < nearest->distance) {
            *nearest = (nearest_t){BUCKET * bucket + k, distance};
        }
    }
}

//@ args i=index, x=varying, y=varying
//@ width 32

int32_t vp(int32_t i, float x, float y, int32_t depth, const float *nodes, const float *points) {
    (void)i;
    search_t search = {x, y, nodes, points};
    int32_t buckets = 1 << depth, node = 1;
    nearest_t nearest = {0, INFINITY};
    uint32_t others = 0;
    float margins[LEVELS];
    for (int level = 0; level < depth; level++) {
        side_t side = side_of(&search, node);
        margins[level] = side.margin;
        node = 2 * node + side.is_outside;
    }
    offer(&search, node - buckets, &nearest);
    for (int level = 0; level < depth; level++) {
        others = 2 * others + (margins[level] < nearest.distance);
    }
    for (;;) {
        do {
            if (others == 0) {
                return nearest.point;
            }
            int up = __builtin_ctz(others);
            node = (node >> up) ^ 1;
            others = (others >> up) ^ 1;
        } while (!(side_of(&search, node >> 1).margin < nearest.distance));
        while (node < buckets) {
            side_t side = side_of(&search, node);
            others = 2 * others + (side.margin < nearest.distance);
            node = 2 * node + side.is_outside;
        }
        offer(&search, node - buckets, &nearest);
    }
}
