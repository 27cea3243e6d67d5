/* Writes where a threshold is passed, and nothing elsewhere. */
// survey: n i32 = 4000; x i32[n] in -1000..1000; limit i32 = 300; flags i32[n]

void store_if(int n, const int *x, int limit, int *flags) {
    //@ loop
    for (int i = 0; i < n; i++)
        if (x[i] > limit)
            flags[i] = x[i] - limit;
}
