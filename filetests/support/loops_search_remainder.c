//@ group Loops as the unit
//@ construct searches that divide by what stays the same (`if (x[i] % m == 0) break;`)
//@ happens by 1 instead, where the program would not get to divide
//@ args buffer:404=random, uniform=101, uniform=7
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *x, int n, int m) {
    for (int i = 0; i < n; i++)
        if (x[i] % m == 3) return i;
    return -1;
}
