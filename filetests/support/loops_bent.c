//@ group Loops as the unit
//@ construct indices that bend: halves, remainders, clamped at borders
//@ happens gathered; between which elements they lie is computed before the loop, and checked against what is written
//@ args buffer:1024=random, buffer:404=random, uniform=101, uniform=7, uniform=2
//@ range 0..1
//@ loop
void kernel(const int *x, int *out, int n, int k, int r) {
    for (int i = 0; i < n; i++) {
        int sum = x[i / 2] + x[(i + 3) % k];
        for (int j = -r; j <= r; j++) {
            int at = i + j < 0 ? 0 : i + j;
            sum += x[at < n ? at : n - 1];
        }
        out[i] = sum;
    }
}
