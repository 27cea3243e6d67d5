/* Puts each element where it belongs. */
// survey: n i32 = 4000; to i32[n] permutation; in f32[n] in -1..1; out f32[n]

void scatter_permuted(int n, const int *to, const float *in, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[to[i]] = in[i] * 2.0f;
}
