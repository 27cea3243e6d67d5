//@ group Loops as the unit
//@ construct loops that are left in the middle (`break`, `return`)
//@ happens refused
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
//@ refused how many iterations there are is not known before they run
int kernel(const int *a, int n) {
    for (int i = 0; i < n; i++)
        if (a[i] == 7) return i;
    return n;
}
