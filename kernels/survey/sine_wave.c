/* A tone. */
// survey: n i32 = 1000; frequency f64 = 0.0575; out f64[n]; tolerance 1e-12

#include <math.h>

void sine_wave(int n, double frequency, double *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = sin(frequency * i);
}
