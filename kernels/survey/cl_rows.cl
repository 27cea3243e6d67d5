/* The norm of each row. */
// survey: rows i32 = 100; columns i32 = 64; ndrange rows; m f32[rows*columns] in -1..1; out f32[rows]

kernel void cl_rows(int rows, int columns, global const float *m, global float *out) {
    int r = get_global_id(0);
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int c = 0; c < columns; c++)
        sum += m[r * columns + c] * m[r * columns + c];
    out[r] = sqrt(sum);
}
