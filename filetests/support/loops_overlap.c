//@ group Loops as the unit
//@ construct pointers that may overlap
//@ happens checked before the loop, which runs as it was if iterations would conflict
//@ args buffer:404=random, buffer:404=random, uniform=101
//@ range 0..1
//@ loop
void kernel(int *a, const int *b, int n) {
    for (int i = 0; i < n; i++) a[i] = b[i] * 3 + b[n - 1 - i];
}
