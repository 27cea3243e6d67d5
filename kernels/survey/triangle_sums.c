/* Sums of all that stand before: a triangle. */
// survey: n i32 = 150; a i32[n] in -100..100; out i32[n]

void triangle_sums(int n, const int *a, int *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = 0; j <= i; j++)
            sum += a[j];
        out[i] = sum;
    }
}
