/* Equidistant places. */
// survey: a f32[4000]; n i32 = 4000; first f32 = 1; step f32 = 0.125

void iota_f32(float *a, int n, float first, float step) {
    //@ loop
    for (int i = 0; i < n; i++)
        a[i] = first + step * i;
}
