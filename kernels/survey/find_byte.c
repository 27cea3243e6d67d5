/* Where a byte is found first. */
// survey: n i32 = 4000; s u8[n] in 1..200; c u8 = 0; -> i32; omp no

int find_byte(int n, const unsigned char *s, unsigned char c) {
    int at = n;
    //@ loop
    for (int i = 0; i < n; i++) {
        if (s[i] == c) {
            at = i;
            break;
        }
    }
    return at;
}
