// stencil.rs for ISPC.

#define REACH 4

export void KERNEL(uniform int begin, uniform int end, uniform int row, uniform int plane,
                   const uniform float weights[], const uniform float squared_speed[], const uniform float now[],
                   const uniform float before[], uniform float next[]) {
    foreach (i = begin ... end) {
        float laplacian = weights[0] * 3.0f * now[i];
        for (uniform int k = 1; k <= REACH; k++) {
            float across = now[i + k] + now[i - k];
            float along = now[i + k * row] + now[i - k * row];
            float through = now[i + k * plane] + now[i - k * plane];
            laplacian += weights[k] * (across + along + through);
        }
        next[i] = 2.0f * now[i] - before[i] + squared_speed[i] * laplacian;
    }
}
