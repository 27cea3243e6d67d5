//@ group Loops as the unit
//@ construct bits that iterations set, reset or toggle, and that they look at (`if (c) in = 0; else if (!in) { in = 1; words++; }`)
//@ happens all lanes' states at once, as the carries of an addition and an exclusive or of bits; conditions that all ways load are computed before they part
//@ args buffer:101=random, buffer:101=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const signed char *restrict s, unsigned char *restrict out, int n) {
    int fields = 1, quoted = 0, inside = 0;
    for (int i = 0; i < n; i++) {
        switch (s[i] & 7) {
        case 1: quoted = !quoted; break;
        case 2: inside = 0; break;
        case 3: if (!quoted) fields++; break;
        default: if (!inside) { inside = 1; fields += 256; }
        }
        out[i] = (unsigned char)(quoted * 2 + inside);
    }
    return fields;
}
