//@ group Loops as the unit
//@ construct sums to which some iterations add, and counts behind a pointer
//@ happens the others add nothing; as other sums of bytes and shorts; counts are written once a group
//@ args buffer:300=random, buffer:300=random, buffer:16=zero, uniform=300
//@ range 0..1
//@ loop
void kernel(const unsigned char *a, const unsigned char *b, unsigned *out, int n) {
    unsigned some = 0, distances = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] > 100) {
            some += b[i];
            if (b[i] & 1) distances += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        }
        if (b[i] > 200) out[2]++;
    }
    out[0] = some;
    out[1] = distances;
}
