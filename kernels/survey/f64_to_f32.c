/* Half the memory. */
// survey: n i32 = 3000; in f64[n] in -1..1; out f32[n]

void f64_to_f32(int n, const double *in, float *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = (float)in[i];
}
