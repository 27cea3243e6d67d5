/* Between two states. */
// survey: n i32 = 2000 | 7; t f64 = 0.3; a f64[n] in -1..1; b f64[n] in -1..1; out f64[n]

void lerp_f64(int n, double t, const double *a, const double *b, double *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = a[i] + t * (b[i] - a[i]);
}
