//@ group Loops as the unit
//@ construct values that wrap around (`before = n - 1; for (…) { … a[before] …; before = i; }`)
//@ happens the first iteration is executed before the loop; from then on, inductions
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *restrict a, int *restrict o, int n) {
    int before = n - 1;
    for (int i = 0; i < n; i++) {
        o[i] = a[i] - a[before];
        before = i;
    }
}
