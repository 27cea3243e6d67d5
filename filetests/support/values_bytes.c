//@ group Values
//@ construct arithmetic on bytes and shorts in `int` (C's promotions, Rust's `as u32`)
//@ happens done in 8 or 16 bits where ranges allow; sums, differences and distances that saturate are one instruction
//@ args buffer:64=random, buffer:64=random, buffer:64=random, uniform=77
//@ range 0..1
//@ loop
void kernel(const unsigned char *restrict a, const unsigned char *restrict b, unsigned char *restrict out, int n) {
    for (int i = 0; i < 64; i++) {
        int sum = a[i] + b[i];
        int light = a[i] + n;
        int distance = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        int blend = ((sum > 255 ? 255 : sum) * b[i] + distance * (255 - b[i])) / 255;
        out[i] = blend > n ? (light > 255 ? 255 : light < 0 ? 0 : light) : blend;
    }
}
