//@ group Loops as the unit
//@ construct values of the iteration before that are loaded behind a store (`out[i] = x[i] - last; last = x[i];`)
//@ happens loaded first; that the store does not go there is checked before the loop
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *x, int *out, int n) {
    int last = 0;
    for (int i = 0; i < n; i++) {
        out[i] = x[i] - last;
        last = x[i];
    }
}
