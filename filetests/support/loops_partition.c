//@ group Loops as the unit
//@ construct several streams, by pointers or by numbers (`if (c) *p++ = x; else q[k++] = x;`)
//@ happens each has a position of its own
//@ args buffer:404=random, buffer:404=zero, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *restrict a, int *restrict p, int *restrict q, int n) {
    int k = 0;
    for (int i = 0; i < n; i++)
        if (a[i] & 4) *p++ = a[i];
        else q[k++] = i;
}
