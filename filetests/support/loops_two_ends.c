//@ group Loops as the unit
//@ construct two counters until they meet (`for (i = 0, j = n - 1; i < j; i++, j--)`), two pointers likewise
//@ happens the number of iterations is computed before the loop; both are inductions
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ loop
void kernel(int *a, int n) {
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        int t = a[i];
        a[i] = a[j];
        a[j] = t;
    }
}
