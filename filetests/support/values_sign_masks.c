//@ group Values
//@ construct masks of signs (`m = (a - b) >> 8; b + ((a - b) & ~m)`)
//@ happens selections, and so minima, maxima, distances and saturating differences of bytes
//@ args buffer:64=random, buffer:64=random, buffer:64=random
//@ range 0..1
//@ loop
void kernel(const unsigned char *restrict a, const unsigned char *restrict b, unsigned char *restrict out) {
    for (int i = 0; i < 64; i++) {
        int difference = a[i] - b[i];
        int sign = difference >> 8;
        int distance = (difference & ~sign) | (-difference & sign);
        int greater = b[i] + (difference & ~sign);
        int sum = distance + greater;
        int above = sum - 255;
        out[i] = sum - (above & ~(above >> 9));
    }
}
