//@ group Loops as the unit
//@ construct hashes and numbers that are polynomials, in loops that are left in the middle (`while (*s) h = h * 33 + *s++;`)
//@ happens a group at once, up to the one in which the loop is left
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *restrict s, int n) {
    unsigned h = 5381;
    for (int i = 0; i < n; i++) {
        if (s[i] == 1000000) break;
        h = h * 33 + s[i];
    }
    return h;
}
