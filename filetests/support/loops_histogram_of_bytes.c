//@ group Loops as the unit
//@ construct histograms of bytes, pointers that may overlap
//@ happens all 256 counters are checked before the loop against what is read; updates for one lane after the other
//@ args buffer:1024=small, buffer:128=random, uniform=101
//@ range 0..1
//@ loop
void kernel(int *h, const unsigned char *x, int n) {
    for (int i = 0; i < n; i++) h[x[i]]++;
}
