//@ group Loops as the unit
//@ construct anything else that an iteration needs of the one before
//@ happens refused
//@ args uniform=101
//@ range 0..1
//@ result 4
//@ loop
//@ refused which is neither an induction nor a reduction, prefix sum or the like
unsigned kernel(int n) {
    unsigned x = 1;
    for (int i = 0; i < n; i++) x = (x * 1103515245u + 12345u) ^ (unsigned)i;
    return x;
}
