//@ group Loops as the unit
//@ construct the least or greatest floating-point number by `if (x < m) m = x`
//@ happens as with an index, without any flag: zeros of both signs and NaNs as the sequential loop has them
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
float kernel(const float *a, int n) {
    float greatest = -1e30f;
    for (int i = 0; i < n; i++)
        if (a[i] > greatest) greatest = a[i];
    return greatest;
}
