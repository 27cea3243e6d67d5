//@ group Loops as the unit
//@ construct the least or greatest value with its index or other values of that iteration (`if (x < m) { m = x; at = i; }`)
//@ happens each lane selects among its iterations; values and numbers of iterations decide behind the loop, the first or last among equals as the loop says
//@ args buffer:404=random, buffer:404=random, buffer:12=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *restrict a, const int *restrict b, int *restrict out, int n) {
    int least = 1 << 30, at = -1, with = 0;
    for (int i = 0; i < n; i++) {
        if ((b[i] & 3) && (a[i] & 0xff) <= least) {
            least = a[i] & 0xff;
            at = i;
            with = b[i];
        }
    }
    out[0] = least;
    out[1] = at;
    out[2] = with;
}
