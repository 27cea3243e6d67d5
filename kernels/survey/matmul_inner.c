/* A product of matrices; the innermost loop goes along a row. */
// survey: n i32 = 32; a f32[n*n] in -1..1; b f32[n*n] in -1..1; c f32[n*n]

void matmul_inner(int n, const float *a, const float *b, float *restrict c) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int k = 0; k < n; k++) {
            float f = a[i * n + k];
            //@ loop
            for (int j = 0; j < n; j++)
                c[i * n + j] += f * b[k * n + j];
        }
    }
}
