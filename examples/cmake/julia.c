//@ args i=index

// How many iterations the `i`-th point of a picture of 512 x 384 points stays within bounds: a Julia set.
void julia(int i, float cx, float cy, int limit, int *out) {
    float x = (float)(i % 512) * (3.0f / 512) - 1.5f;
    float y = (float)(i / 512) * (2.0f / 384) - 1.0f;
    int n = 0;
    while (n < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        n += 1;
    }
    out[i] = n;
}
