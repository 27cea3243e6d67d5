/* A part of a picture, with borders repeated. */
// survey: w i32 = 64; h i32 = 48; in u8[w*h] random; x0 i32 = -8; y0 i32 = 30; cw i32 = 48; ch i32 = 32; out u8[cw*ch]

void crop(int w, int h, const unsigned char *in, int x0, int y0, int cw, int ch, unsigned char *out) {
    for (int y = 0; y < ch; y++) {
        int sy = y0 + y < 0 ? 0 : y0 + y >= h ? h - 1 : y0 + y;
        //@ loop
        for (int x = 0; x < cw; x++) {
            int sx = x0 + x < 0 ? 0 : x0 + x >= w ? w - 1 : x0 + x;
            out[y * cw + x] = in[sy * w + sx];
        }
    }
}
