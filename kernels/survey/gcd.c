/* Greatest common divisors. */
// survey: n i32 = 1000; a u32[n] in 1..100000; b u32[n] in 1..100000; out u32[n]

void gcd(int n, const unsigned *a, const unsigned *b, unsigned *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        unsigned x = a[i], y = b[i];
        while (y != 0) {
            unsigned t = x % y;
            x = y;
            y = t;
        }
        out[i] = x;
    }
}
