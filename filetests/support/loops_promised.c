//@ group Loops as the unit
//@ construct the same with `//@ loop independent` or `#pragma omp simd`
//@ happens vector code: the user answers for what cannot be decided
//@ args buffer:404=random, buffer:404=small, buffer:404=random, uniform=101
//@ range 0..1
//@ loop
//@ independent
void kernel(int *a, const int *p, const int *b, int n) {
    for (int i = 0; i < n; i++) a[p[i] & 63] = b[i];
}
