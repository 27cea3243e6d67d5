//@ group Loops as the unit
//@ construct a divergent inner loop stores to one place
//@ happens refused
//@ args buffer:404=random, buffer:4=zero, uniform=101
//@ range 0..1
//@ loop
//@ refused in the next or previous iteration, through memory
void kernel(const int *restrict a, int *restrict p, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < (a[i] & 7); j++) p[0] = 10 * i + j;
}
