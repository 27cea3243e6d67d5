//@ group Values
//@ construct upper halves of products of shorts (`(x * y) >> 16`)
//@ happens one instruction on x86
//@ args buffer:128=random, buffer:64=random, buffer:64=random
//@ range 0..1
//@ loop
void kernel(const unsigned short *restrict x, const unsigned char *restrict b, unsigned char *restrict out) {
    for (int i = 0; i < 64; i++) {
        int ninth = ((b[i] * 9 + 5) * 7282) >> 16;
        unsigned half = ((unsigned)x[i] * x[i]) >> 16;
        out[i] = (ninth + (half >> 8)) >> 1;
    }
}
