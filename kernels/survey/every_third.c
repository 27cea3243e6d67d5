/* Takes one sample of three. */
// survey: n i32 = 3000; in i32[3*n] in -100..100; out i32[n]

void every_third(int n, const int *in, int *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = in[3 * i];
}
