//@ group Loops as the unit
//@ construct histograms (`h[x[i]] += v`)
//@ happens updates for one lane after the other; all else is vector code
//@ args buffer:64=small, buffer:404=random, uniform=101
//@ range 0..1
//@ loop
void kernel(int *restrict h, const int *restrict x, int n) {
    for (int i = 0; i < n; i++) h[x[i] & 15] += x[i] >> 3;
}
