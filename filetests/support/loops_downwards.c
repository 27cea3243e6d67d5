//@ group Loops as the unit
//@ construct loops that count down, in steps, by pointers
//@ happens vector code; the number of iterations is computed first
//@ args buffer:404=random, buffer:404=zero, uniform=99
//@ range 0..1
//@ loop
void kernel(const short *a, int *out, unsigned n) {
    const short *p = a + n;
    while (n > 2) {
        n -= 3;
        p -= 3;
        out[n] = *p;
    }
}
