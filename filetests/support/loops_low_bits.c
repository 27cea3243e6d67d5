//@ group Loops as the unit
//@ construct sums modulo powers of two (`s = (s + x[i]) & 0xff`, `short` sums whose intermediate results are used)
//@ happens in as many bits as count, as a reduction or a scan
//@ args buffer:101=random, buffer:202=random, buffer:202=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
unsigned kernel(const unsigned char *restrict x, const short *restrict d, short *restrict out, int n) {
    unsigned sum = 0;
    short so_far = 0;
    for (int i = 0; i < n; i++) {
        sum = (sum + x[i]) & 0xff;
        so_far += d[i];
        out[i] = so_far;
    }
    return sum;
}
