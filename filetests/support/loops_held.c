//@ group Loops as the unit
//@ construct values that are held until another one takes their place, and that the loop looks at (`if (valid[i]) last = x[i]; out[i] = last;`)
//@ happens that of the last lane that has one of its own, else what was held before the group
//@ args buffer:404=random, buffer:101=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *restrict x, const signed char *restrict valid, int *restrict out, int n) {
    int last = -1;
    for (int i = 0; i < n; i++) {
        if (valid[i] > 0) last = x[i];
        out[i] = last;
    }
    return last;
}
