//@ group Loops as the unit
//@ construct polynomials, as of hashes: `h = h * 31 + s[i]`
//@ happens a group at once: each lane's part times a power
//@ args buffer:101=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
unsigned kernel(const unsigned char *s, int n) {
    unsigned h = 5381;
    for (int i = 0; i < n; i++) h = (h << 5) + h + s[i];
    return h;
}
