/* The rounded mean of two pictures. */
// survey: let N = 8000; a u8[N] random; b u8[N] random; out u8[N]; n i32 = N

void average_u8(const unsigned char *a, const unsigned char *b, unsigned char *out, int n) {
    //@ loop
    for (int i = 0; i < n; ++i)
        out[i] = (a[i] + b[i] + 1) >> 1;
}
