//@ group Loops as the unit
//@ construct `int` indices between two bounds, counted from 0 as compilers do for `#pragma omp simd`
//@ happens contiguous: the test before the loop tells that they do not wrap
//@ args buffer:404=random, buffer:404=zero, uniform=5, uniform=99
//@ range 0..1
//@ loop
void kernel(const int *a, int *out, int from, int to) {
    if (from < to) {
        for (unsigned k = 0; k < (unsigned)to - (unsigned)from; ++k) {
            int x = (int)(k + (unsigned)from);
            out[x] = a[x] + a[x - 1];
        }
    }
}
