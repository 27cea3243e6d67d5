/* Darker corners, row by row. */
// survey: w i32 = 64; h i32 = 40; p f32[w*h] in 0..1

void vignette(int w, int h, float *p) {
    for (int y = 0; y < h; y++) {
        //@ loop
        for (int x = 0; x < w; x++) {
            float dx = (float)x / w - 0.5f, dy = (float)y / h - 0.5f;
            p[y * w + x] *= 1.0f - 0.01f * (dx * dx + dy * dy);
        }
    }
}
