/* A sum in any order. */
// survey: n i32 = 4000 | 7; x f64[n] in -1..1; -> f64; omp reduction(+:sum); tolerance 1e-12

double sum_f64(int n, const double *x) {
    double sum = 0;
    //@ loop any-order
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}
