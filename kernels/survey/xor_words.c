/* A checksum. */
// survey: n i32 = 4000; x u32[n] random; -> u32; omp reduction(^:sum)

unsigned xor_words(int n, const unsigned *x) {
    unsigned sum = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        sum ^= x[i];
    return sum;
}
