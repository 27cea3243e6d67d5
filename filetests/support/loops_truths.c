//@ group Loops as the unit
//@ construct truth values and signs that some iterations change (`if (c) odd = !odd;`, `sign = -sign`, `ok = ok && x > 0`)
//@ happens each lane has its own; they are put together behind the loop
//@ args buffer:12=zero, buffer:404=random, uniform=101
//@ range 0..1
//@ loop
void kernel(int *restrict out, const int *restrict x, int n) {
    int odd = 0, sign = 1;
    _Bool all = 1;
    for (int i = 0; i < n; i++) {
        int v = x[i];
        if (v & 4) odd = !odd;
        if (v & 8) sign = -sign;
        all = all && v != 1;
    }
    out[0] = odd;
    out[1] = sign;
    out[2] = all;
}
