/* Shrinks values towards 0, with their signs. */
// survey: n i32 = 2000; x f64[n] in -1..1; k f64 = 0.3; out f64[n]

#include <math.h>

void soft_threshold(int n, const double *x, double k, double *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        double m = fabs(x[i]) - k;
        out[i] = m > 0 ? copysign(m, x[i]) : 0.0;
    }
}
