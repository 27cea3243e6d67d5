//@ group Loops as the unit
//@ construct sums and products of floating-point numbers without `reassoc`
//@ happens combined in the order of the program, one lane after the other; the rest is vector code
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ result 4
//@ loop
float kernel(const float *a, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] > 0 ? a[i] / 3 : 0;
    return sum;
}
