/* Vectors of length one. */
// survey: n i32 = 1500; v f32[3*n] in -1..1

#include <math.h>

struct vec3 {
    float x, y, z;
};

void vec3_normalize(int n, struct vec3 *v) {
    //@ loop
    for (int i = 0; i < n; i++) {
        float length = sqrtf(v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);
        if (length > 0) {
            v[i].x /= length;
            v[i].y /= length;
            v[i].z /= length;
        }
    }
}
