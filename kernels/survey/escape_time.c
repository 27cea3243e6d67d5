/* Mandelbrot's set in double precision, a row. */
// survey: n i32 = 256; y f64 = 0.3; out i32[n]

void escape_time(int n, double y, int *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        double cx = -2.0 + 3.0 * i / n, zx = 0, zy = 0;
        int k = 0;
        while (k < 100 && zx * zx + zy * zy < 4) {
            double t = zx * zx - zy * zy + cx;
            zy = 2 * zx * zy + y;
            zx = t;
            k++;
        }
        out[i] = k;
    }
}
