/* Rows become columns. */
// survey: w i32 = 64; h i32 = 48; ndrange w h; in f32[w*h] in 0..1; out f32[w*h]

kernel void cl_transpose(int w, int h, global const float *in, global float *out) {
    int x = get_global_id(0), y = get_global_id(1);
    out[x * h + y] = in[y * w + x];
}
