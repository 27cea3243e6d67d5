//@ group Loops as the unit
//@ construct values that alternate, `sign = -sign`, `k = 1 - k`, `flip = !flip`
//@ happens known from the number of the iteration
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ loop
void kernel(const float *restrict x, float *restrict o, int n) {
    float sign = 1;
    for (int i = 0; i < n; i++) {
        o[i] = sign * x[i];
        sign = -sign;
    }
}
