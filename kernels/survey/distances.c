/* How far points are from one point. */
// survey: n i32 = 2000; x f64[n] in -1..1; y f64[n] in -1..1; px f64 = 0.5; py f64 = 0.25; out f64[n]

#include <math.h>

static double distance(double x0, double y0, double x1, double y1) {
    double dx = x1 - x0, dy = y1 - y0;
    return sqrt(dx * dx + dy * dy);
}

void distances(int n, const double *x, const double *y, double px, double py, double *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = distance(x[i], y[i], px, py);
}
