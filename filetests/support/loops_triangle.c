//@ group Loops as the unit
//@ construct numbers that grow by an induction (`j += k; k += 2`)
//@ happens computed from the number of the iteration; elements at them are gathered
//@ args buffer:404=random, buffer:404=zero, uniform=13
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *restrict a, int *restrict o, int n) {
    int j = 0;
    for (int i = 0; i < n; i++) {
        o[i] = a[j];
        j += i + 1;
    }
    return j;
}
