/* One picture over another. */
// survey: n i32 = 2000; over u8[4*n] random; under u8[4*n] random; out u8[4*n]

typedef struct {
    unsigned char c[4];
} pixel;

void rgba_blend(int n, const pixel *over, const pixel *under, pixel *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int a = over[i].c[3];
        for (int k = 0; k < 4; k++)
            out[i].c[k] = (over[i].c[k] * a + under[i].c[k] * (255 - a)) >> 8;
    }
}
