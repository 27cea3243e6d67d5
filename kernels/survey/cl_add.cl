/* The sum of two buffers. */
// survey: let N = 4000 | 7; ndrange N; a f32[N] in -1..1; b f32[N] in -1..1; out f32[N]

kernel void cl_add(global const float *a, global const float *b, global float *out) {
    int i = get_global_id(0);
    out[i] = a[i] + b[i];
}
