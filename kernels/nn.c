/* nn.rs in C. */

#include <math.h>
#include <stdint.h>

enum { LEVELS = 32, BUCKET = 8 };

typedef struct {
    int32_t point;
    float distance;
} nearest_t;

typedef struct {
    float x, y;
    const float *cuts, *boxes, *points;
} search_t;

static inline float gap(float x, float lo, float hi) {
    float below = lo - x, above = x - hi;
    float gap = below > above ? below : above;
    return gap > 0.0f ? gap : 0.0f;
}

static inline float beyond_cut(const search_t *search, int32_t node) {
    const float *cut = search->cuts + 2 * (intptr_t)node;
    return (cut[1] == 0.0f ? search->x : search->y) - cut[0];
}

static inline float distance_from(const search_t *search, int32_t node) {
    const float *bounds = search->boxes + 4 * (intptr_t)node;
    float gap_x = gap(search->x, bounds[0], bounds[2]), gap_y = gap(search->y, bounds[1], bounds[3]);
    return gap_x * gap_x + gap_y * gap_y;
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

int32_t nn(int32_t i, float x, float y, int32_t depth, const float *cuts, const float *boxes, const float *points) {
    (void)i;
    search_t search = {x, y, cuts, boxes, points};
    int32_t buckets = 1 << depth, node = 1;
    nearest_t nearest = {0, INFINITY};
    uint32_t others = 0;
    float margins[LEVELS];
    for (int level = 0; level < depth; level++) {
        float beyond = beyond_cut(&search, node);
        margins[level] = beyond * beyond;
        node = 2 * node + (beyond > 0.0f);
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
        } while (!(distance_from(&search, node) < nearest.distance));
        while (node < buckets) {
            float beyond = beyond_cut(&search, node);
            others = 2 * others + (beyond * beyond < nearest.distance);
            node = 2 * node + (beyond > 0.0f);
        }
        offer(&search, node - buckets, &nearest);
    }
}
