//@ group Loops as the unit
//@ construct compaction without a branch (`out[k] = x[i]; k += c[i] > 0;`)
//@ happens stores are packed; what is found behind a group is what those lanes have stored that count, and the last one
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *restrict x, int *restrict out, int n) {
    int k = 0;
    for (int i = 0; i < n; i++) {
        out[k] = i;
        k += x[i] > 0;
    }
    return k;
}
