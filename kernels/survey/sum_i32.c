/* A sum. */
// survey: n i32 = 4000 | 20 | 3; x i32[n] in -1000..1000; -> i32; omp reduction(+:sum)

int sum_i32(int n, const int *x) {
    int sum = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum;
}
