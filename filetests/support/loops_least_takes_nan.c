//@ group Loops as the unit
//@ construct minima and maxima of floating-point numbers that a NaN replaces (`m = m < x ? m : x`)
//@ happens as others, as long as no number is a NaN; from the first one on the loop runs as it was
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
float kernel(const float *x, int n) {
    float m = 1e30f;
    for (int i = 0; i < n; i++) m = m < x[i] ? m : x[i];
    return m;
}
