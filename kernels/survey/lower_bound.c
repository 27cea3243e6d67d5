/* Binary search for each key. */
// survey: n i32 = 1000; keys i32[n] below 100000; m i32 = 1000; sorted i32[m] sorted in 0..100000; at i32[n]

void lower_bound(int n, const int *keys, int m, const int *sorted, int *at) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int lo = 0, hi = m;
        while (lo < hi) {
            int mid = lo + (hi - lo) / 2;
            if (sorted[mid] < keys[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        at[i] = lo;
    }
}
