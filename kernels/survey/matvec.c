/* A matrix times a vector. */
// survey: rows i32 = 96; columns i32 = 64; m f64[rows*columns] in -1..1; x f64[columns] in -1..1; y f64[rows]

void matvec(int rows, int columns, const double *restrict m, const double *restrict x, double *restrict y) {
    //@ loop
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < columns; c++)
            sum += m[r * columns + c] * x[c];
        y[r] = sum;
    }
}
