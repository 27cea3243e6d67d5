/* Square roots by Newton's method, until they are good enough. */
// survey: n i32 = 1000; a f64[n] in 0.5..100; out f64[n]

#include <math.h>

void newton_sqrt(int n, const double *a, double *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        double x = a[i];
        while (fabs(x * x - a[i]) > 1e-9 * a[i])
            x = 0.5 * (x + a[i] / x);
        out[i] = x;
    }
}
