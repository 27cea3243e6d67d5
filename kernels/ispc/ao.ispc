// ao.rs for ISPC.

#define WIDTH 256
#define SPHERES 3
#define RAYS 8
#define LIFT 1e-3f
#define FAR 1e30f

struct vector {
    float x, y, z;
};

static inline vector of(float x, float y, float z) {
    vector v = {x, y, z};
    return v;
}

static inline float dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline vector cross_of(vector a, vector b) {
    return of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline vector along(vector a, float t, vector b) { return of(a.x + t * b.x, a.y + t * b.y, a.z + t * b.z); }

static inline vector unit(vector a) {
    float scale = 1.0f / sqrt(dot(a, a));
    return of(a.x * scale, a.y * scale, a.z * scale);
}

static inline float next_random(unsigned int &state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (float)(int)(state >> 8) * (1.0f / 16777216.0f);
}

static inline void on_circle(float turn, float &x, float &y) {
    float quarters = turn * 4.0f;
    int quadrant = (int)quarters;
    float angle = (quarters - (float)quadrant - 0.5f) * 1.57079633f;
    float square = angle * angle;
    float sine = angle * (1.0f - square * (1.0f / 6.0f) * (1.0f - square * (1.0f / 20.0f) * (1.0f - square * (1.0f / 42.0f))));
    float cosine = 1.0f - square * 0.5f * (1.0f - square * (1.0f / 12.0f) * (1.0f - square * (1.0f / 30.0f)));
    float a = (quadrant & 1) == 0 ? cosine : -sine, b = (quadrant & 1) == 0 ? sine : cosine;
    x = (quadrant & 2) == 0 ? a : -a;
    y = (quadrant & 2) == 0 ? b : -b;
}

static inline float enters(const uniform float sphere[], vector origin, vector direction) {
    vector from = of(origin.x - sphere[0], origin.y - sphere[1], origin.z - sphere[2]);
    float b = dot(from, direction);
    float discriminant = b * b - (dot(from, from) - sphere[3] * sphere[3]);
    float t = 0;
    if (discriminant > 0)
        t = -b - sqrt(discriminant);
    return t;
}

static float nearest(const uniform float spheres[], uniform float plane, vector direction, vector &normal) {
    float nearest = FAR;
    normal = of(0, 1, 0);
    if (plane * direction.y > 0)
        nearest = plane / direction.y;
    for (uniform int k = 0; k < SPHERES; k++) {
        const uniform float *uniform sphere = spheres + 4 * k;
        float t = enters(sphere, of(0, 0, 0), direction);
        if (t > 0 && t < nearest) {
            nearest = t;
            normal = unit(of(t * direction.x - sphere[0], t * direction.y - sphere[1], t * direction.z - sphere[2]));
        }
    }
    return nearest;
}

static bool occluded(const uniform float spheres[], uniform float plane, vector origin, vector direction) {
    for (uniform int k = 0; k < SPHERES; k++)
        if (enters(spheres + 4 * k, origin, direction) > 0)
            return true;
    return (plane - origin.y) * direction.y > 0;
}

static float open(const uniform float spheres[], uniform float plane, vector point, vector normal,
                  unsigned int &state) {
    vector other = of(0, 0, 1);
    if (abs(normal.x) < 0.6f)
        other = of(1, 0, 0);
    else if (abs(normal.y) < 0.6f)
        other = of(0, 1, 0);
    vector side = unit(cross_of(other, normal));
    vector front = cross_of(normal, side);
    vector origin = along(point, LIFT, normal);
    int free = 0;
    for (uniform int ray = 0; ray < RAYS * RAYS; ray++) {
        float square = next_random(state), x, y;
        on_circle(next_random(state), x, y);
        float radius = sqrt(square);
        vector level = along(along(of(0, 0, 0), x * radius, side), y * radius, front);
        vector direction = along(level, sqrt(1.0f - square), normal);
        if (!occluded(spheres, plane, origin, direction))
            free++;
    }
    return (float)free * (1.0f / (float)(RAYS * RAYS));
}

export void KERNEL(uniform int begin, uniform int end, const uniform float spheres[], uniform float plane,
                   uniform int samples, uniform float left, uniform float top, uniform float step_x,
                   uniform float step_y, uniform float result[]) {
    foreach (i = begin ... end) {
        int column = i & (WIDTH - 1), row = i / WIDTH;
        unsigned int state = ((unsigned int)i + 1) * 2654435761;
        uniform float within = 1.0f / (float)samples;
        float sum = 0;
        for (uniform int down = 0; down < samples; down++) {
            float y = top + ((float)row + (float)down * within) * step_y;
            for (uniform int right = 0; right < samples; right++) {
                float x = left + ((float)column + (float)right * within) * step_x;
                vector direction = unit(of(x, y, -1)), normal;
                float t = nearest(spheres, plane, direction, normal);
                if (t < FAR) {
                    vector point = of(t * direction.x, t * direction.y, t * direction.z);
                    sum += open(spheres, plane, point, normal, state);
                }
            }
        }
        result[i - begin] = sum * within * within;
    }
}
