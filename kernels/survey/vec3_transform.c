/* Points times a matrix, as arrays of three numbers. */
// survey: n i32 = 1000; m f32[9] in -1..1; in f32[3*n] in -1..1; out f32[3*n]

void vec3_transform(int n, const float m[9], const float (*in)[3], float (*out)[3]) {
    //@ loop
    for (int i = 0; i < n; i++) {
        for (int r = 0; r < 3; r++) {
            float sum = 0;
            for (int c = 0; c < 3; c++)
                sum += m[3 * r + c] * in[i][c];
            out[i][r] = sum;
        }
    }
}
