//@ group Loops as the unit
//@ construct counts, sums and the like in memory (`*count += c`, `v->data[v->n++] = x`)
//@ happens held in registers, and stored behind the loop if they have changed; that nobody else accesses them is checked before
//@ args buffer:404=random, buffer:404=small, buffer:8=zero, uniform=101
//@ range 0..1
//@ result 4
//@ loop
struct Counts { int kept; int sum; };
int kernel(const int *x, int *out, struct Counts *counts, int n) {
    for (int i = 0; i < n; i++) {
        counts->sum += x[i];
        if (x[i] > 0) out[counts->kept++] = x[i];
    }
    return counts->sum;
}
