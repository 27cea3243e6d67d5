//@ group Loops as the unit
//@ construct loads at what bits of the counter say: `u[i / 2]`, `t[i % 4]`, `x[i ^ 1]`, `bits[i / 8] >> i % 8`
//@ happens one load of the stretch, and a shuffle: groups of iterations begin at multiples of the number of lanes
//@ args buffer:404=zero, buffer:404=random, buffer:404=random, uniform=101
//@ range 0..1
//@ loop
void kernel(int *restrict out, const int *restrict u, const int *restrict t, int n) {
    for (int i = 0; i < n; i++) out[i] = u[i / 2] + t[i % 4] * (t[i / 32] >> i % 32 & 1);
}
