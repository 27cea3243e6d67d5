/* The sum of each row. */
// survey: rows i32 = 100; columns i32 = 64; m f32[rows*columns] in -1..1; out f32[rows]

void row_sums(int rows, int columns, const float *m, float *out) {
    //@ loop
    for (int y = 0; y < rows; y++) {
        float sum = 0;
        for (int x = 0; x < columns; x++)
            sum += m[y * columns + x];
        out[y] = sum;
    }
}
