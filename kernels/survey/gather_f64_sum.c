/* A sparse row times a vector. */
// survey: let N = 300; values f64[N*8] in -1..1; columns i32[N*8] below N; x f64[N] in -1..1; y f64[N]; rows i32 = N

void gather_f64_sum(const double *values, const int *columns, const double *x, double *y, int rows) {
    //@ loop
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int k = 0; k < 8; k++)
            sum += values[8 * r + k] * x[columns[8 * r + k]];
        y[r] = sum;
    }
}
