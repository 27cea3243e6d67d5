/* ao.rs in C. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { WIDTH = 256, SPHERES = 3, RAYS = 8 };
#define LIFT 1e-3f

typedef struct {
    float x, y, z;
} vector;

static float dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static vector cross(vector a, vector b) {
    return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static vector along(vector a, float t, vector b) { return (vector){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z}; }

static vector unit(vector a) {
    float scale = 1.0f / sqrtf(dot(a, a));
    return (vector){a.x * scale, a.y * scale, a.z * scale};
}

static float next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (float)(int32_t)(*state >> 8) * (1.0f / 16777216.0f);
}

static void on_circle(float turn, float *x, float *y) {
    float quarters = turn * 4.0f;
    int32_t quadrant = (int32_t)quarters;
    float angle = (quarters - (float)quadrant - 0.5f) * 1.57079633f;
    float square = angle * angle;
    float sine = angle * (1.0f - square * (1.0f / 6.0f) * (1.0f - square * (1.0f / 20.0f) * (1.0f - square * (1.0f / 42.0f))));
    float cosine = 1.0f - square * 0.5f * (1.0f - square * (1.0f / 12.0f) * (1.0f - square * (1.0f / 30.0f)));
    float a = (quadrant & 1) == 0 ? cosine : -sine, b = (quadrant & 1) == 0 ? sine : cosine;
    *x = (quadrant & 2) == 0 ? a : -a;
    *y = (quadrant & 2) == 0 ? b : -b;
}

static float enters(const float *sphere, vector origin, vector direction) {
    vector from = {origin.x - sphere[0], origin.y - sphere[1], origin.z - sphere[2]};
    float b = dot(from, direction);
    float discriminant = b * b - (dot(from, from) - sphere[3] * sphere[3]);
    return discriminant > 0 ? -b - sqrtf(discriminant) : 0;
}

static float nearest(const float *spheres, float plane, vector direction, vector *normal) {
    float nearest = INFINITY;
    *normal = (vector){0, 1, 0};
    if (plane * direction.y > 0)
        nearest = plane / direction.y;
    for (int32_t k = 0; k < SPHERES; k++) {
        const float *sphere = spheres + 4 * k;
        float t = enters(sphere, (vector){0, 0, 0}, direction);
        if (t > 0 && t < nearest) {
            nearest = t;
            *normal = unit((vector){t * direction.x - sphere[0], t * direction.y - sphere[1], t * direction.z - sphere[2]});
        }
    }
    return nearest;
}

static bool occluded(const float *spheres, float plane, vector origin, vector direction) {
    for (int32_t k = 0; k < SPHERES; k++)
        if (enters(spheres + 4 * k, origin, direction) > 0)
            return true;
    return (plane - origin.y) * direction.y > 0;
}

static float open(const float *spheres, float plane, vector point, vector normal, uint32_t *state) {
    bool off_x = fabsf(normal.x) < 0.6f, off_y = fabsf(normal.y) < 0.6f;
    vector other = {off_x, off_y && !off_x, !off_x && !off_y};
    vector side = unit(cross(other, normal));
    vector front = cross(normal, side);
    vector origin = along(point, LIFT, normal);
    int32_t free = 0;
    for (int32_t ray = 0; ray < RAYS * RAYS; ray++) {
        float square = next_random(state), x, y;
        on_circle(next_random(state), &x, &y);
        float radius = sqrtf(square);
        vector level = along(along((vector){0, 0, 0}, x * radius, side), y * radius, front);
        vector direction = along(level, sqrtf(1.0f - square), normal);
        if (!occluded(spheres, plane, origin, direction))
            free++;
    }
    return (float)free * (1.0f / (float)(RAYS * RAYS));
}

//@ args i=index
float ao(int32_t i, const float *spheres, float plane, int32_t samples, float left, float top, float step_x,
         float step_y) {
    uint32_t column = (uint32_t)i % WIDTH, row = (uint32_t)i / WIDTH;
    uint32_t state = ((uint32_t)i + 1) * 2654435761u;
    float within = 1.0f / (float)samples, sum = 0;
    for (int32_t down = 0; down < samples; down++) {
        float y = top + ((float)(int32_t)row + (float)down * within) * step_y;
        for (int32_t right = 0; right < samples; right++) {
            float x = left + ((float)(int32_t)column + (float)right * within) * step_x;
            vector direction = unit((vector){x, y, -1}), normal;
            float t = nearest(spheres, plane, direction, &normal);
            if (t < INFINITY) {
                vector point = {t * direction.x, t * direction.y, t * direction.z};
                sum += open(spheres, plane, point, normal, &state);
            }
        }
    }
    return sum * within * within;
}
