//@ group Loops as the unit
//@ construct sums of integers in memory (`sum[0] += x[i]`)
//@ happens one update by what all lanes have together
//@ args buffer:4=small, buffer:404=random, uniform=101
//@ range 0..1
//@ loop
void kernel(int *restrict sum, const int *restrict x, int n) {
    for (int i = 0; i < n; i++) sum[0] += x[i];
}
