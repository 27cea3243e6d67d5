/* One column of a matrix. */
// survey: rows i32 = 1000; columns i32 = 16; m f64[rows*columns] in 1..2; column i32 = 5; k f64 = 1.0

void column_scale(int rows, int columns, double *m, int column, double k) {
    //@ loop
    for (int y = 0; y < rows; y++)
        m[y * columns + column] *= k;
}
