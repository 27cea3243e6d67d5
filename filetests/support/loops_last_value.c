//@ group Loops as the unit
//@ construct the last value or index where a condition held (`if (c) last = a[i];`)
//@ happens each lane keeps its last one; the last iteration decides behind the loop
//@ args buffer:404=random, buffer:8=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *restrict a, int *restrict out, int n) {
    int last = -1, at = n;
    for (int i = 0; i < n; i++) {
        if (a[i] & 4) last = a[i];
        if (a[i] & 8) at = i;
    }
    out[0] = last;
    out[1] = at;
}
