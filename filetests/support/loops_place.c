//@ group Loops as the unit
//@ construct the place of the best element, `if (x[i] > x[best]) best = i`, also by pointers and references
//@ happens the value is kept with the place; the first iteration is executed before the loop
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
int kernel(const int *x, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}
