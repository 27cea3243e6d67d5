//@ group Loops as the unit
//@ construct stores to places that come from memory, beside loads through pointers that may lead there
//@ happens refused
//@ args buffer:404=random, buffer:404=small, buffer:404=random, uniform=101
//@ range 0..1
//@ loop
//@ refused declare the pointers `restrict`
void kernel(int *a, const int *p, const int *b, int n) {
    for (int i = 0; i < n; i++) a[p[i]] = b[i];
}
