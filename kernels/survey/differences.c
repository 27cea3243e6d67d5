/* Differences of neighbours, the last value being kept. */
// survey: n i32 = 4000; x i32[n] in -100..100; out i32[n]; omp no

void differences(int n, const int *x, int *out) {
    int last = 0;
    //@ loop
    for (int i = 0; i < n; i++) {
        out[i] = x[i] - last;
        last = x[i];
    }
}
