//@ group Loops as the unit
//@ construct prefix sums in place (`o[i] += o[i - 1]`), and other uses of what the iteration before has stored
//@ happens passed on from lane to lane as a scan; the first iteration is executed before the loop
//@ args buffer:404=random, uniform=101
//@ range 0..1
//@ loop
void kernel(int *o, int n) {
    for (int i = 1; i < n; i++) o[i] += o[i - 1];
}
