/* Sorts each group of four numbers. */
// survey: n i32 = 600; in i32[4*n] random; out i32[4*n]

void insertion_sort4(int n, const int *in, int *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int a[4];
        for (int k = 0; k < 4; k++) {
            int v = in[4 * i + k], j = k;
            while (j > 0 && a[j - 1] > v) {
                a[j] = a[j - 1];
                j--;
            }
            a[j] = v;
        }
        for (int k = 0; k < 4; k++)
            out[4 * i + k] = a[k];
    }
}
