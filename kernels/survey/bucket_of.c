/* The first bound that is not below each value. */
// survey: n i32 = 1000; x f32[n] in 0..1; m i32 = 12; bounds f32[m] sorted in 0..1; bucket i32[n]

void bucket_of(int n, const float *x, int m, const float *bounds, int *bucket) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int k;
        for (k = 0; k < m; k++)
            if (bounds[k] >= x[i])
                break;
        bucket[i] = k;
    }
}
