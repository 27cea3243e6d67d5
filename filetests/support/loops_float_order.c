//@ group Loops as the unit
//@ construct sums of floating-point numbers without `reassoc`
//@ happens refused, unless any order is allowed
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
//@ refused in another order may give another result
float kernel(const float *a, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += a[i];
    return sum;
}
