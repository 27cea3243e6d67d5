//@ group Loops as the unit
//@ construct arrays that are declared in the loop
//@ happens each lane has its own
//@ args buffer:404=small, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *a, int *out, int n) {
    for (int i = 0; i < n; i++) {
        int t[4];
        for (int k = 0; k < 4; k++) t[(k + a[i]) & 3] = i * k;
        out[i] = t[0] - 3 * t[2];
    }
}
