//@ group Loops as the unit
//@ construct gathers and scatters whose indices only some iterations load, through pointers that may overlap
//@ happens refused
//@ args buffer:404=random, buffer:404=small, buffer:404=random, uniform=101
//@ range 0..1
//@ loop
//@ refused declare the pointers `restrict`
void kernel(int *a, const int *p, const int *b, int n) {
    for (int i = 0; i < n; i++)
        if (b[i] > 0)
            a[p[i]] = b[i];
}
