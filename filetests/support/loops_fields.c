//@ group Loops as the unit
//@ construct fields of structures that are stored before others are loaded, through pointers that may overlap
//@ happens wide accesses and shuffles; it is checked before the loop that what changes places does not overlap
//@ args buffer:512=random, buffer:512=random, uniform=100
//@ range 0..1
//@ loop
void kernel(const unsigned char *in, unsigned char *out, int n) {
    for (int i = 0; i < n; i++) {
        unsigned a = in[4 * i + 3];
        for (int k = 0; k < 3; k++)
            out[4 * i + k] = (in[4 * i + k] * a + 127) / 255;
        out[4 * i + 3] = a;
    }
}
