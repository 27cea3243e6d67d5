//@ group Loops as the unit
//@ construct loops that count down past zero (`for (unsigned i = n - 1; i < n; i--)`)
//@ happens counted: what is below zero is above the bound
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *restrict x, int *restrict out, unsigned n) {
    int sum = 0;
    for (unsigned i = n - 1; i < n; i--) {
        out[i] = x[i] ^ (int)i;
        sum += x[i] / 1000;
    }
    return sum;
}
