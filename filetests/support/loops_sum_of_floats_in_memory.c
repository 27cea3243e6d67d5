//@ group Loops as the unit
//@ construct sums of floating-point numbers in memory, with no word on their order
//@ happens updates for one lane after the other; all else is vector code
//@ args buffer:4=zero, buffer:404=small, uniform=101
//@ range 0..1
//@ loop
void kernel(float *restrict sum, const int *restrict x, int n) {
    for (int i = 0; i < n; i++) sum[0] += (float)x[i] * 0.1f;
}
