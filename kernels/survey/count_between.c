/* How many points are within a circle. */
// survey: n i32 = 3000; x f64[n] in -1..1; y f64[n] in -1..1; -> i32; omp reduction(+:count)

int count_between(int n, const double *x, const double *y) {
    int count = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        count += x[i] * x[i] + y[i] * y[i] <= 1.0;
    return count;
}
