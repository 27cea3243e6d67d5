/* Julia's set. */
// survey: w i32 = 32; h i32 = 24; ndrange w h; cx f32 = -0.4; cy f32 = 0.6; out i32[w*h]

kernel void cl_julia(int w, int h, float cx, float cy, global int *out) {
    int px = get_global_id(0), py = get_global_id(1);
    float x = 3.0f * px / w - 1.5f, y = 2.0f * py / h - 1.0f;
    int k = 0;
    for (; k < 200; k++) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
    }
    out[py * w + px] = k;
}
