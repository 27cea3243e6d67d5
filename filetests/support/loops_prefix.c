//@ group Loops as the unit
//@ construct prefix sums and similar, whose intermediate results are used
//@ happens a scan over the lanes in each group
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *restrict a, int *restrict out, int n) {
    int sum = 0, greatest = -5;
    for (int i = 0; i < n; i++) {
        out[i] = sum;
        sum += a[i];
        greatest = a[i] > greatest ? a[i] : greatest;
        out[i] ^= greatest;
    }
}
