/* A pattern that is repeated. */
// survey: n i32 = 4000; period i32 = 13; pattern f32[period] in -1..1; in f32[n] in -1..1; out f32[n]

void wrap_mod(int n, int period, const float *pattern, const float *in, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = in[i] + pattern[i % period];
}
