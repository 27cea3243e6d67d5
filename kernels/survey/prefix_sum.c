/* Running sums. */
// survey: n i32 = 4000; x i32[n] in -100..100; out i32[n]; omp no

void prefix_sum(int n, const int *x, int *out) {
    int sum = 0;
    //@ loop
    for (int i = 0; i < n; i++) {
        sum += x[i];
        out[i] = sum;
    }
}
