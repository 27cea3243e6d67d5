//@ group Loops as the unit
//@ construct values of the iteration before, and of the one before that
//@ happens from the lane before, in lane 0 from the group before
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *a, int *out, int n) {
    int last = 0, before = 7;
    for (int i = 0; i < n; i++) {
        int x = a[i];
        out[i] = x - 2 * last + before;
        before = last;
        last = x;
    }
    return last + before;
}
