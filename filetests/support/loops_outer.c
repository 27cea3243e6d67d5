//@ group Loops as the unit
//@ construct outer loops, with branches and divergent inner loops
//@ happens vector code, as in a kernel
//@ args buffer:404=small, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *a, int *out, int n) {
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int j = 0; j < a[i]; j++) {
            if (a[j] & 1) s += a[(i + j) % 101];
        }
        out[i] = s;
    }
}
