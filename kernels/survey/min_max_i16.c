/* The least and the largest sample. */
// survey: n i32 = 4000; x i16[n] random; out i16[2]; omp reduction(min:lo) reduction(max:hi)

void min_max_i16(int n, const short *x, short *out) {
    short lo = x[0], hi = x[0];
    //@ loop
    for (int i = 0; i < n; i++) {
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
    }
    out[0] = lo;
    out[1] = hi;
}
