/* How many of a few values lie near each place. */
// survey: let N = 1000; m i32 = 24; ndrange N; x f32[N] in 0..1; at f32[m] in 0..1; r f32 = 0.1; out i32[N]

kernel void cl_near(int m, global const float *x, global const float *at, float r, global int *out) {
    int i = get_global_id(0), count = 0;
    for (int k = 0; k < m; k++) {
        float d = x[i] - at[k];
        if (d < r && d > -r)
            count++;
    }
    out[i] = count;
}
