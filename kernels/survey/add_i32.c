/* The sum of three arrays. */
// survey: let N = 4000 | 7; a i32[N] in -1000..1000; b i32[N] in -1000..1000; c i32[N] in -9..9; d i32[N]; n u32 = N

void add_i32(const int *a, const int *b, const int *c, int *d, unsigned n) {
    //@ loop
    for (unsigned i = 0; i < n; i++)
        d[i] = a[i] + b[i] + c[i];
}
