/* Keeps values within bounds. */
// survey: x f32[4000] in -3..3; n i32 = 4000; lo f32 = -1; hi f32 = 1

static float clamp(float v, float lo, float hi) {
    return v < lo ? lo : v > hi ? hi : v;
}

void clamp_f32(float *x, int n, float lo, float hi) {
    //@ loop
    for (int i = 0; i < n; i++)
        x[i] = clamp(x[i], lo, hi);
}
