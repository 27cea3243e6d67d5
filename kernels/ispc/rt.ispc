// rt.rs for ISPC: the stack and the nodes on it are the gang's, and a box is opened if any ray wants it.

#define WIDTH 8
#define FAR 1e30f

struct Ray {
    float x, y, z, dx, dy, dz, ix, iy, iz, nearest;
    int hit;
};

static inline bool enters(const Ray &r, const uniform float bounds[]) {
    float x0 = (bounds[0] - r.x) * r.ix, x1 = (bounds[3] - r.x) * r.ix;
    float y0 = (bounds[1] - r.y) * r.iy, y1 = (bounds[4] - r.y) * r.iy;
    float z0 = (bounds[2] - r.z) * r.iz, z1 = (bounds[5] - r.z) * r.iz;
    float enter = max(max(min(x0, x1), min(y0, y1)), max(min(z0, z1), 0.0f));
    float leave = min(min(max(x0, x1), max(y0, y1)), min(max(z0, z1), r.nearest));
    return enter <= leave;
}

static void meet(Ray &r, const uniform float at[], uniform int k) {
    uniform float e1x = at[3], e1y = at[4], e1z = at[5], e2x = at[6], e2y = at[7], e2z = at[8];
    float px = r.dy * e2z - r.dz * e2y, py = r.dz * e2x - r.dx * e2z, pz = r.dx * e2y - r.dy * e2x;
    float determinant = e1x * px + e1y * py + e1z * pz;
    bool meets = determinant != 0;
    float inverse = 1.0f / determinant;
    float sx = r.x - at[0], sy = r.y - at[1], sz = r.z - at[2];
    float u = (sx * px + sy * py + sz * pz) * inverse;
    meets = meets && u >= 0 && u <= 1;
    float qx = sy * e1z - sz * e1y, qy = sz * e1x - sx * e1z, qz = sx * e1y - sy * e1x;
    float v = (r.dx * qx + r.dy * qy + r.dz * qz) * inverse;
    meets = meets && v >= 0 && u + v <= 1;
    float t = (e2x * qx + e2y * qy + e2z * qz) * inverse;
    if (meets && t > 0 && t < r.nearest) {
        r.nearest = t;
        r.hit = k;
    }
}

export void KERNEL(uniform int begin, uniform int end, const uniform float bounds[], const uniform int first[],
                   const uniform int kind[], const uniform float triangles[], const uniform float camera[],
                   uniform float distance[], uniform int result[]) {
    foreach (i = begin ... end) {
        int tile = i >> 4, within = i & 15;
        float across = (float)((tile & ((1 << (WIDTH - 2)) - 1)) * 4 + (within & 3));
        float down = (float)((tile >> (WIDTH - 2)) * 4 + (within >> 2));
        Ray r;
        r.x = camera[0];
        r.y = camera[1];
        r.z = camera[2];
        r.nearest = floatbits(0x7f800000);
        r.hit = -1;
        r.dx = camera[3] + across * camera[6] + down * camera[9];
        r.dy = camera[4] + across * camera[7] + down * camera[10];
        r.dz = camera[5] + across * camera[8] + down * camera[11];
        r.ix = 1.0f / r.dx;
        r.iy = 1.0f / r.dy;
        r.iz = 1.0f / r.dz;

        uniform int stack[64], top = 0;
        stack[top++] = 0;
        while (top > 0) {
            uniform int node = stack[--top];
            bool wanted = enters(r, bounds + 6 * node);
            if (any(wanted)) {
                if (kind[node] > 0) {
                    for (uniform int k = first[node]; k < first[node] + kind[node]; k++)
                        if (wanted)
                            meet(r, triangles + 9 * k, k);
                } else {
                    uniform int backwards = camera[12 - kind[node]] < 0 ? 1 : 0;
                    stack[top++] = first[node] + 1 - backwards;
                    stack[top++] = first[node] + backwards;
                }
            }
        }
        distance[i] = r.nearest;
        result[i - begin] = r.hit;
    }
}
