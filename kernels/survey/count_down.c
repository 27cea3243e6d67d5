/* A loop that runs downwards. */
// survey: n i32 = 4000; a i32[n] in -100..100; b i32[n]

void count_down(int n, const int *a, int *b) {
    //@ loop
    for (int i = n - 1; i >= 0; i--)
        b[i] = a[i] * 3 + i;
}
