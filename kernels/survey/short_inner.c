/* Groups whose lengths differ and are short. */
// survey: n i32 = 800; begin i32[n+1] sorted in 0..4000; x i32[4000] in -100..100; sum i32[n]

void short_inner(int n, const int *begin, const int *x, int *sum) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int k = begin[i]; k < begin[i + 1]; k++)
            s += x[k];
        sum[i] = s;
    }
}
