/* Products of complex numbers. */
// survey: n i32 = 1500; a f64[2*n] in -1..1; b f64[2*n] in -1..1; out f64[2*n]

typedef struct {
    double re, im;
} cplx;

void complex_mul(int n, const cplx *a, const cplx *b, cplx *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        double re = a[i].re * b[i].re - a[i].im * b[i].im;
        double im = a[i].re * b[i].im + a[i].im * b[i].re;
        out[i].re = re;
        out[i].im = im;
    }
}
