//@ group Loops as the unit
//@ construct sums, minima, bitwise combinations, of some iterations too
//@ happens one for each lane, combined behind the loop
//@ args buffer:404=random, uniform=101, buffer:16=zero
//@ range 0..1
//@ loop
//@ contains xor %bits.0
void kernel(const int *a, int n, int *out) {
    int sum = 3, least = 1000, bits = 0, product = 1;
    for (int i = 0; i < n; i++) {
        if (a[i] & 1) sum -= a[i];
        least = a[i] < least ? a[i] : least;
        bits ^= a[i];
        product *= a[i] | 1;
    }
    out[0] = sum;
    out[1] = least;
    out[2] = bits;
    out[3] = product;
}
