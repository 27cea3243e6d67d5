//@ group Loops as the unit
//@ construct stream compaction (`if (c) out[k++] = x;`), also in place
//@ happens lanes that count store one behind the other; that stores do not overtake loads is checked before the loop
//@ args buffer:404=random, buffer:408=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const int *a, int *out, int n) {
    int k = 0;
    for (int i = 0; i < n; i++)
        if (a[i] & 4) out[k++] = a[i] >> 1;
    out[k] = -1;
}
