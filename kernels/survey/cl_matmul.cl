/* A product of matrices, one element for each work-item. */
// survey: n i32 = 32; ndrange n n; a f32[n*n] in -1..1; b f32[n*n] in -1..1; c f32[n*n]

kernel void cl_matmul(int n, global const float *a, global const float *b, global float *c) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
