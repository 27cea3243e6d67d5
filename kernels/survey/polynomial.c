/* Horner's rule with eight coefficients. */
// survey: n i32 = 2000 | 7; c f64[8] in -1..1; x f64[n] in -1..1; out f64[n]

void polynomial(int n, const double c[8], const double *x, double *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        double y = 0;
        for (int k = 0; k < 8; k++)
            y = y * x[i] + c[k];
        out[i] = y;
    }
}
