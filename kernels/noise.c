/* noise.rs in C. */
#include <math.h>
#include <stdint.h>

enum { WIDTH = 512 };

static float fade(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

static float mix(float t, float a, float b) { return a + t * (b - a); }

static float gradient(int32_t hash, float x, float y, float z) {
    int32_t h = hash & 15;
    float u = h < 8 ? x : y;
    float v = h < 4 ? y : (h & 13) == 12 ? x : z;
    return ((h & 1) == 0 ? u : -u) + ((h & 2) == 0 ? v : -v);
}

static float noise_at(float x, float y, float z, const int32_t *permutation) {
    float floor_x = floorf(x), floor_y = floorf(y), floor_z = floorf(z);
    int32_t cell_x = (int32_t)floor_x & 255, cell_y = (int32_t)floor_y & 255, cell_z = (int32_t)floor_z & 255;
    x -= floor_x, y -= floor_y, z -= floor_z;
    float u = fade(x), v = fade(y), w = fade(z);
    int32_t a = permutation[cell_x] + cell_y, b = permutation[cell_x + 1] + cell_y;
    int32_t aa = permutation[a] + cell_z, ab = permutation[a + 1] + cell_z;
    int32_t ba = permutation[b] + cell_z, bb = permutation[b + 1] + cell_z;
    float sides[2];
    for (int32_t k = 0; k < 2; k++)
        sides[k] = mix(v,
                       mix(u, gradient(permutation[aa + k], x, y, z - (float)k),
                           gradient(permutation[ba + k], x - 1.0f, y, z - (float)k)),
                       mix(u, gradient(permutation[ab + k], x, y - 1.0f, z - (float)k),
                           gradient(permutation[bb + k], x - 1.0f, y - 1.0f, z - (float)k)));
    return mix(w, sides[0], sides[1]);
}

//@ args i=index
float noise(int32_t i, const int32_t *permutation, int32_t octaves, float left, float top, float depth, float step_x,
            float step_y) {
    uint32_t column = (uint32_t)i % WIDTH, row = (uint32_t)i / WIDTH;
    float x = left + (float)(int32_t)column * step_x;
    float y = top + (float)(int32_t)row * step_y;
    float sum = 0, frequency = 1, weight = 1;
    for (int32_t octave = 0; octave < octaves; octave++) {
        sum += weight * fabsf(noise_at(x * frequency, y * frequency, depth * frequency, permutation));
        frequency *= 2.0f;
        weight *= 0.5f;
    }
    return sum;
}
