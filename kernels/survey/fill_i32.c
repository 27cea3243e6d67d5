/* The same value everywhere. */
// survey: let N = 4000 | 7; a i32[N]; n i32 = N; value i32 = 42

void fill_i32(int *a, int n, int value) {
    //@ loop
    for (int i = 0; i < n; i++)
        a[i] = value;
}
