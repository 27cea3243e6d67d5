/* volume.rs in C. */
#include <math.h>
#include <stdint.h>

enum { WIDTH = 8 };
#define DEPTH 5.3f
#define COARSE 3.0f

static float mix(float t, float a, float b) { return a + t * (b - a); }

static float sample(const float *grid, int32_t size, float x, float y, float z) {
    int32_t i = (int32_t)x, j = (int32_t)y, k = (int32_t)z, plane = size * size;
    float u = x - (float)i, v = y - (float)j, w = z - (float)k;
    const float *at = grid + ((k * size + j) * size + i), *behind = at + plane;
    float near = mix(v, mix(u, at[0], at[1]), mix(u, at[size], at[size + 1]));
    float far = mix(v, mix(u, behind[0], behind[1]), mix(u, behind[size], behind[size + 1]));
    return mix(w, near, far);
}

static float shade(const float *grid, int32_t size, float x, float y, float z, const float *light, float step) {
    float end = (float)(size - 1), depth = 0;
    while (depth < DEPTH) {
        x += step * light[0], y += step * light[1], z += step * light[2];
        if (x < 0 || y < 0 || z < 0 || x >= end || y >= end || z >= end)
            break;
        depth += step * sample(grid, size, x, y, z);
    }
    return depth;
}

static float smaller(float a, float b) { return a < b ? a : b; }

static float larger(float a, float b) { return a > b ? a : b; }

//@ args i=index
//@ tolerance rel=1e-4, abs=1e-5
float volume(int32_t i, const float *grid, int32_t size, const float *camera, const float *light, float step) {
    uint32_t tile = (uint32_t)i >> 4, within = (uint32_t)i & 15;
    float column = (float)(int32_t)((tile & ((1u << (WIDTH - 2)) - 1)) * 4 + (within & 3));
    float row = (float)(int32_t)((tile >> (WIDTH - 2)) * 4 + (within >> 2));
    float dx = camera[3] + column * camera[6] + row * camera[9];
    float dy = camera[4] + column * camera[7] + row * camera[10];
    float dz = camera[5] + column * camera[8] + row * camera[11];
    float end = (float)(size - 1);
    float x0 = -camera[0] * (1.0f / dx), x1 = (end - camera[0]) * (1.0f / dx);
    float y0 = -camera[1] * (1.0f / dy), y1 = (end - camera[1]) * (1.0f / dy);
    float z0 = -camera[2] * (1.0f / dz), z1 = (end - camera[2]) * (1.0f / dz);
    float near = larger(larger(smaller(x0, x1), smaller(y0, y1)), larger(smaller(z0, z1), 0));
    float far = smaller(smaller(larger(x0, x1), larger(y0, y1)), larger(z0, z1));
    float t = near + 0.5f * step, last = far - 0.25f * step;
    if (t >= last)
        return 0;
    float length = step * sqrtf(dx * dx + dy * dy + dz * dz);
    float seen = 0, depth = 0;
    while (t < last && depth < DEPTH) {
        float x = camera[0] + t * dx, y = camera[1] + t * dy, z = camera[2] + t * dz;
        float density = sample(grid, size, x, y, z);
        if (density > 0) {
            float shadow = shade(grid, size, x, y, z, light, COARSE * length);
            seen += density * length * expf(-depth - shadow);
            depth += density * length;
        }
        t += step;
    }
    return seen;
}
