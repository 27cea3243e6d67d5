/* The last becomes the first. */
// survey: n i32 = 4000 | 7; in f32[n] in -1..1; out f32[n]

void reverse_copy(int n, const float *in, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = in[n - 1 - i];
}
