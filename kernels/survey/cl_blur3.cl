/* The mean of nine pixels, with borders repeated. */
// survey: w i32 = 64; h i32 = 48; ndrange w h; in f32[w*h] in 0..1; out f32[w*h]

kernel void cl_blur3(int w, int h, global const float *in, global float *out) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int sx = clamp(x + dx, 0, w - 1), sy = clamp(y + dy, 0, h - 1);
            sum += in[sy * w + sx];
        }
    }
    out[y * w + x] = sum / 9.0f;
}
