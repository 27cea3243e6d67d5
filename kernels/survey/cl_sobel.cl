/* Edges of a picture. */
// survey: w i32 = 66; h i32 = 50; ndrange w h; in u8[w*h] random; out u8[w*h]

kernel void cl_sobel(int w, int h, global const uchar *in, global uchar *out) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
        return;
    global const uchar *p = in + y * w + x;
    int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[-1 + w];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    int g = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
    out[y * w + x] = min(g, 255);
}
