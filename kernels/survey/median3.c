/* The middle one of three neighbours. */
// survey: n i32 = 4000; in i32[n+2] random; out i32[n]

static int median(int a, int b, int c) {
    if (a > b) {
        int t = a;
        a = b;
        b = t;
    }
    if (b > c)
        b = c;
    return a > b ? a : b;
}

void median3(int n, const int *in, int *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = median(in[i], in[i + 1], in[i + 2]);
}
