// noise.rs for ISPC.

#define WIDTH 512

static inline float fade(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

static inline float mix(float t, float a, float b) { return a + t * (b - a); }

static inline float gradient(int hash, float x, float y, float z) {
    int h = hash & 15;
    float u = h < 8 ? x : y;
    float v = h < 4 ? y : (h & 13) == 12 ? x : z;
    return ((h & 1) == 0 ? u : -u) + ((h & 2) == 0 ? v : -v);
}

static float noise_at(float x, float y, float z, const uniform int permutation[]) {
    float floor_x = floor(x), floor_y = floor(y), floor_z = floor(z);
    int cell_x = (int)floor_x & 255, cell_y = (int)floor_y & 255, cell_z = (int)floor_z & 255;
    x -= floor_x;
    y -= floor_y;
    z -= floor_z;
    float u = fade(x), v = fade(y), w = fade(z);
    int a = permutation[cell_x] + cell_y, b = permutation[cell_x + 1] + cell_y;
    int aa = permutation[a] + cell_z, ab = permutation[a + 1] + cell_z;
    int ba = permutation[b] + cell_z, bb = permutation[b + 1] + cell_z;
    float sides[2];
    for (uniform int k = 0; k < 2; k++)
        sides[k] = mix(v,
                       mix(u, gradient(permutation[aa + k], x, y, z - (float)k),
                           gradient(permutation[ba + k], x - 1.0f, y, z - (float)k)),
                       mix(u, gradient(permutation[ab + k], x, y - 1.0f, z - (float)k),
                           gradient(permutation[bb + k], x - 1.0f, y - 1.0f, z - (float)k)));
    return mix(w, sides[0], sides[1]);
}

export void KERNEL(uniform int begin, uniform int end, const uniform int permutation[], uniform int octaves,
                   uniform float left, uniform float top, uniform float depth, uniform float step_x,
                   uniform float step_y, uniform float result[]) {
    foreach (i = begin ... end) {
        int column = i & (WIDTH - 1), row = i / WIDTH;
        float x = left + (float)column * step_x, y = top + (float)row * step_y;
        float sum = 0;
        uniform float frequency = 1, weight = 1;
        for (uniform int octave = 0; octave < octaves; octave++) {
            sum += weight * abs(noise_at(x * frequency, y * frequency, depth * frequency, permutation));
            frequency *= 2.0f;
            weight *= 0.5f;
        }
        result[i - begin] = sum;
    }
}
