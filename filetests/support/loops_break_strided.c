//@ group Loops as the unit
//@ construct loops that are left in the middle and load at `2 * i + 1` or `i - 1` of an `int` or `unsigned`, also backwards
//@ happens the address is computed in the width of pointers, so that lanes may look ahead
//@ args buffer:202=97, buffer:101=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const signed char *restrict s, unsigned char *restrict out, int n) {
    for (int i = n; i > 0; i--) {
        int high = s[2 * i - 2] - 'a', low = s[2 * i - 1] - 'a';
        if (high < 0 || low < 0) return i;
        out[i - 1] = high * 16 + low;
    }
    return 0;
}
