/* rt.rs in C. Without warpline, define WARPLINE_SCALAR. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "warpline.h"

enum { WIDTH = 8 };

static float least(float a, float b) { return a < b ? a : b; }

static float most(float a, float b) { return a > b ? a : b; }

typedef struct {
    float x, y, z, dx, dy, dz, ix, iy, iz, nearest;
    int32_t hit;
} ray;

static bool enters(const ray *r, const float *bounds) {
    float x0 = (bounds[0] - r->x) * r->ix, x1 = (bounds[3] - r->x) * r->ix;
    float y0 = (bounds[1] - r->y) * r->iy, y1 = (bounds[4] - r->y) * r->iy;
    float z0 = (bounds[2] - r->z) * r->iz, z1 = (bounds[5] - r->z) * r->iz;
    float enter = most(most(least(x0, x1), least(y0, y1)), most(least(z0, z1), 0));
    float leave = least(least(most(x0, x1), most(y0, y1)), least(most(z0, z1), r->nearest));
    return enter <= leave;
}

static void meet(ray *r, const float *at, int32_t k) {
    float e1x = at[3], e1y = at[4], e1z = at[5], e2x = at[6], e2y = at[7], e2z = at[8];
    float px = r->dy * e2z - r->dz * e2y, py = r->dz * e2x - r->dx * e2z, pz = r->dx * e2y - r->dy * e2x;
    float determinant = e1x * px + e1y * py + e1z * pz;
    if (determinant == 0)
        return;
    float inverse = 1.0f / determinant;
    float sx = r->x - at[0], sy = r->y - at[1], sz = r->z - at[2];
    float u = (sx * px + sy * py + sz * pz) * inverse;
    if (!(u >= 0 && u <= 1))
        return;
    float qx = sy * e1z - sz * e1y, qy = sz * e1x - sx * e1z, qz = sx * e1y - sy * e1x;
    float v = (r->dx * qx + r->dy * qy + r->dz * qz) * inverse;
    if (v < 0 || u + v > 1)
        return;
    float t = (e2x * qx + e2y * qy + e2z * qz) * inverse;
    if (t > 0 && t < r->nearest) {
        r->nearest = t;
        r->hit = k;
    }
}

static ray through(int32_t i, const float *camera) {
    uint32_t tile = (uint32_t)i >> 4, within = (uint32_t)i & 15;
    float across = (float)(int32_t)((tile & ((1u << (WIDTH - 2)) - 1)) * 4 + (within & 3));
    float down = (float)(int32_t)((tile >> (WIDTH - 2)) * 4 + (within >> 2));
    ray r = {.x = camera[0], .y = camera[1], .z = camera[2], .nearest = INFINITY, .hit = -1};
    r.dx = camera[3] + across * camera[6] + down * camera[9];
    r.dy = camera[4] + across * camera[7] + down * camera[10];
    r.dz = camera[5] + across * camera[8] + down * camera[11];
    r.ix = 1.0f / r.dx, r.iy = 1.0f / r.dy, r.iz = 1.0f / r.dz;
    return r;
}

/* What rt and rays have in common: a box is opened if this ray wants it, or, `together`, if any does. */
static inline int32_t find_nearest(int32_t i, const float *bounds, const int32_t *first, const int32_t *kind,
                                   const float *triangles, const float *camera, float *distance, bool together) {
    ray r = through(i, camera);
    int32_t stack[64] = {0}, top = 1;
    while (top > 0) {
        int32_t node = stack[--top];
        bool wanted = enters(&r, bounds + 6 * node);
        if (together ? warpline_any(wanted) : wanted) {
            if (kind[node] > 0) {
                for (int32_t k = first[node]; k < first[node] + kind[node]; k++)
                    if (wanted)
                        meet(&r, triangles + 9 * k, k);
            } else {
                int32_t backwards = camera[12 - kind[node]] < 0;
                stack[top++] = first[node] + 1 - backwards;
                stack[top++] = first[node] + backwards;
            }
        }
    }
    distance[i] = r.nearest;
    return r.hit;
}

//@ args i=index
//@ lane-insensitive
int32_t rt(int32_t i, const float *bounds, const int32_t *first, const int32_t *kind, const float *triangles,
           const float *camera, float *distance) {
    return find_nearest(i, bounds, first, kind, triangles, camera, distance, true);
}

//@ args i=index
int32_t rays(int32_t i, const float *bounds, const int32_t *first, const int32_t *kind, const float *triangles,
             const float *camera, float *distance) {
    return find_nearest(i, bounds, first, kind, triangles, camera, distance, false);
}
