/* Numbers of a sensor. */
// survey: n i32 = 2000; in i32[n] random; scale f64 = 0.001; offset f64 = 1.5; out f64[n]

void i32_to_f64(int n, const int *in, double scale, double offset, double *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = in[i] * scale + offset;
}
