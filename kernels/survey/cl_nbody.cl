/* The pull of all bodies on each. */
// survey: n i32 = 100; ndrange n; x f32[n] in -1..1; y f32[n] in -1..1; mass f32[n] in 1..2
// survey: ax f32[n]; ay f32[n]; tolerance 1e-4

kernel void cl_nbody(int n, global const float *x, global const float *y, global const float *mass, global float *ax,
                     global float *ay) {
    int i = get_global_id(0);
    float sx = 0.0f, sy = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - x[i], dy = y[j] - y[i];
        float d = dx * dx + dy * dy + 0.01f;
        float f = mass[j] / (d * sqrt(d));
        sx += f * dx;
        sy += f * dy;
    }
    ax[i] = sx;
    ay[i] = sy;
}
