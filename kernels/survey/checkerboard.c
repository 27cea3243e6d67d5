/* A pattern from rows and columns. */
// survey: w i32 = 60; h i32 = 50; out u8[w*h]

void checkerboard(int w, int h, unsigned char *out) {
    //@ loop
    for (int i = 0; i < w * h; i++) {
        int x = i % w, y = i / w;
        out[i] = ((x / 8) ^ (y / 8)) & 1 ? 255 : 0;
    }
}
