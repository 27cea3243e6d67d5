//@ group Loops as the unit
//@ construct records in memory (`if (x[i] < *least) { *least = x[i]; *at = i; }`)
//@ happens lanes ask together whether one beats what is there; the first one that has the best value stores
//@ args buffer:8=small, buffer:404=random, uniform=101
//@ range 0..1
//@ loop
void kernel(int *restrict least, const int *restrict x, int n) {
    for (int i = 0; i < n; i++)
        if (x[i] < least[0]) {
            least[0] = x[i];
            least[1] = i;
        }
}
