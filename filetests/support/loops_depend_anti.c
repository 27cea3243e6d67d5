//@ group Loops as the unit
//@ construct loads of what a later iteration stores (`a[i] = a[i + 1] * b[i]`)
//@ happens vector code: lanes load before they store
//@ args buffer:404=random, buffer:404=random, uniform=100
//@ range 0..1
//@ loop
void kernel(int *restrict a, const int *restrict b, int n) {
    for (int i = 0; i < n; i++) a[i] = a[i + 1] * b[i];
}
