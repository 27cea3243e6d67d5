//@ group Loops as the unit
//@ construct minima and maxima of floating-point numbers that a NaN replaces (`m = m < x ? m : x`)
//@ happens refused, unless any order is allowed
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
//@ refused write `if (x < m) m = x`
float kernel(const float *a, int n) {
    float least = 1e30f;
    for (int i = 0; i < n; i++) least = least < a[i] ? least : a[i];
    return least;
}
