//@ group Loops as the unit
//@ construct the same, where the load cannot pass another store in between
//@ happens refused
//@ args buffer:404=random, buffer:404=zero, uniform=100
//@ range 0..1
//@ loop
//@ refused in the next or previous iteration, through memory
void kernel(int *a, int *b, int n) {
    for (int i = 0; i < n; i++) {
        a[i] = 3 * i;
        b[i] = i;
        b[i] += a[i + 1];
    }
}
