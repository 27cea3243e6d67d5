//@ group Loops as the unit
//@ construct the same in a loop that stores, so that no iteration can be executed again
//@ happens refused
//@ args buffer:404=random, buffer:404=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
//@ refused write `if (x < m) m = x`
float kernel(const float *restrict x, float *restrict o, int n) {
    float m = 1e30f;
    for (int i = 0; i < n; i++) {
        m = m < x[i] ? m : x[i];
        o[i] = x[i] + 1;
    }
    return m;
}
