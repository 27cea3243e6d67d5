//@ group Loops as the unit
//@ construct tables at narrow indices (`t[x[i]]` with bytes)
//@ happens gathered; the whole table is checked before the loop against what is written
//@ args buffer:1024=random, buffer:404=random, buffer:128=random, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *table, int *out, const unsigned char *x, int n) {
    for (int i = 0; i < n; i++) out[i] = table[x[i]] + i;
}
