//@ group Loops as the unit
//@ construct sums of floating-point numbers where flags allow any order
//@ happens one for each lane, combined behind the loop
//@ args buffer:404=small, uniform=101
//@ range 0..1
//@ result 4
//@ loop
float kernel(const int *a, int n) {
#pragma clang fp reassociate(on)
    float sum = 0;
    for (int i = 0; i < n; i++) sum += (float)a[i];
    return sum;
}
