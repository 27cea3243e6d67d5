/* Rows become columns. */
// survey: w i32 = 64; h i32 = 48; in f32[w*h] in -1..1; out f32[w*h]

void transpose(int w, int h, const float *in, float *out) {
    //@ loop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[x * h + y] = in[y * w + x];
}
