//@ group Loops as the unit
//@ construct sums of bytes, truth values, distances of bytes, products of bytes or shorts
//@ happens as other sums; on x86 eight bytes or two products are added up by one instruction
//@ args buffer:300=random, buffer:300=random, buffer:16=zero, uniform=300
//@ range 0..1
//@ loop
void kernel(const unsigned char *restrict a, const unsigned char *restrict b, unsigned *restrict out, int n) {
    unsigned bytes = 0, products = 0, distances = 0, above = 0;
    for (int i = 0; i < n; i++) {
        bytes += a[i];
        products += a[i] * b[i];
        distances += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        above += a[i] > 100;
    }
    out[0] = bytes;
    out[1] = products;
    out[2] = distances;
    out[3] = above;
}
