//@ group Loops as the unit
//@ construct numbers that go around (`at = (at + 1) & 1023`, `% 1024`, `if (++at == 1024) at = 0`), and loads and stores there
//@ happens neighbours before the end and behind it, each under a mask; that the first number is in the ring is checked before the loop
//@ args buffer:1024=random, buffer:404=random, uniform=101, uniform=200
//@ range 0..1
//@ loop
void kernel(int *restrict ring, const int *restrict x, int n, int at) {
    for (int i = 0; i < n; i++) {
        ring[at] = x[i] + 1;
        at = (at + 1) & 255;
    }
}
