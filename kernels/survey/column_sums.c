/* The sum of each column. */
// survey: rows i32 = 64; columns i32 = 100; m f32[rows*columns] in -1..1; out f32[columns]

void column_sums(int rows, int columns, const float *m, float *out) {
    //@ loop
    for (int x = 0; x < columns; x++) {
        float sum = 0;
        for (int y = 0; y < rows; y++)
            sum += m[y * columns + x];
        out[x] = sum;
    }
}
