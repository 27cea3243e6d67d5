//@ group Loops as the unit
//@ construct loops that are left in the middle (`break`, `return`)
//@ happens lanes look whether any of them leaves, within the page that the first one loads from
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *a, int n) {
    for (int i = 0; i < n; i++)
        if (a[i] == 7) return i;
    return n;
}
