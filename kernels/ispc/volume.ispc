// volume.rs for ISPC.

#define WIDTH 8
#define DEPTH 5.3f
#define COARSE 3.0f

static inline float mix(float t, float a, float b) { return a + t * (b - a); }

static float sample(const uniform float grid[], uniform int size, float x, float y, float z) {
    int i = (int)x, j = (int)y, k = (int)z;
    uniform int plane = size * size;
    float u = x - (float)i, v = y - (float)j, w = z - (float)k;
    int at = (k * size + j) * size + i;
    int behind = at + plane;
    float near = mix(v, mix(u, grid[at], grid[at + 1]), mix(u, grid[at + size], grid[at + size + 1]));
    float far =
        mix(v, mix(u, grid[behind], grid[behind + 1]), mix(u, grid[behind + size], grid[behind + size + 1]));
    return mix(w, near, far);
}

static float shade(const uniform float grid[], uniform int size, float x, float y, float z,
                   const uniform float light[], float step) {
    uniform float last = (float)(size - 1);
    float depth = 0;
    while (depth < DEPTH) {
        x += step * light[0];
        y += step * light[1];
        z += step * light[2];
        if (x < 0 || y < 0 || z < 0 || x >= last || y >= last || z >= last)
            break;
        depth += step * sample(grid, size, x, y, z);
    }
    return depth;
}

export void KERNEL(uniform int begin, uniform int end, const uniform float grid[], uniform int size,
                   const uniform float camera[], const uniform float light[], uniform float step,
                   uniform float result[]) {
    foreach (i = begin ... end) {
        int tile = i >> 4, within = i & 15;
        float column = (float)((tile & ((1 << (WIDTH - 2)) - 1)) * 4 + (within & 3));
        float row = (float)((tile >> (WIDTH - 2)) * 4 + (within >> 2));
        float dx = camera[3] + column * camera[6] + row * camera[9];
        float dy = camera[4] + column * camera[7] + row * camera[10];
        float dz = camera[5] + column * camera[8] + row * camera[11];
        uniform float last_cell = (float)(size - 1);
        float x0 = -camera[0] * (1.0f / dx), x1 = (last_cell - camera[0]) * (1.0f / dx);
        float y0 = -camera[1] * (1.0f / dy), y1 = (last_cell - camera[1]) * (1.0f / dy);
        float z0 = -camera[2] * (1.0f / dz), z1 = (last_cell - camera[2]) * (1.0f / dz);
        float near = max(max(min(x0, x1), min(y0, y1)), max(min(z0, z1), 0.0f));
        float far = min(min(max(x0, x1), max(y0, y1)), max(z0, z1));
        float t = near + 0.5f * step, last = far - 0.25f * step;
        float seen = 0, depth = 0;
        if (t < last) {
            float length = step * sqrt(dx * dx + dy * dy + dz * dz);
            while (t < last && depth < DEPTH) {
                float x = camera[0] + t * dx, y = camera[1] + t * dy, z = camera[2] + t * dz;
                float density = sample(grid, size, x, y, z);
                if (density > 0) {
                    float shadow = shade(grid, size, x, y, z, light, COARSE * length);
                    seen += density * length * exp(-depth - shadow);
                    depth += density * length;
                }
                t += step;
            }
        }
        result[i - begin] = seen;
    }
}
