//@ group Loops as the unit
//@ construct polynomials that the loop looks at (`h = h * 31 + x[i]; out[i] = h;`)
//@ happens refused
//@ args uniform=101
//@ range 0..1
//@ result 4
//@ loop
//@ refused which is neither an induction nor a reduction, prefix sum or the like
unsigned kernel(const unsigned char *restrict x, unsigned *restrict out, int n) {
    unsigned h = 7;
    for (int i = 0; i < n; i++) {
        h = h * 31 + x[i];
        out[i] = h;
    }
    return h;
}
