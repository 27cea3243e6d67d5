/* nab_1.rs in C. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

//@ tolerance rel=1e-9

#define OFFSET 0.09

void nab_1(int32_t atoms, int32_t dim, const double *x, const double *radius, const double *scale, const int32_t *first,
           const int32_t *pairs, double cutoff, double largest, double *effective) {
    double farthest = (cutoff + largest) * (cutoff + largest);
    double inverse_cutoff = 1.0 / cutoff, cutoff_squared = 1.0 / (cutoff * cutoff);
    for (int32_t i = 0; i < atoms; i++) {
        const double *at = x + (ptrdiff_t)dim * i;
        double xi = at[0], yi = at[1], zi = at[2], wi = dim == 4 ? at[3] : 0.0;
        double r = radius[i] - OFFSET, inverse_r = 1.0 / r, sum = 0.0;
        int32_t from = first[i], to = first[i + 1];
        //@ loop any-order
        for (int32_t k = from; k < to; k++) {
            int32_t j = pairs[k];
            const double *at = x + (ptrdiff_t)dim * j;
            double dx = xi - at[0], dy = yi - at[1], dz = zi - at[2];
            double squared = dx * dx + dy * dy + dz * dz;
            if (dim == 4) {
                double dw = wi - at[3];
                squared += dw * dw;
            }
            if (squared > farthest)
                continue;
            double inverse = 1.0 / sqrt(squared), d = squared * inverse;
            double s = scale[j] * (radius[j] - OFFSET), s_squared = s * s;
            if (d > cutoff + s)
                continue;
            if (d > cutoff - s) {
                double below = 1.0 / (d - s);
                double cut = cutoff_squared * (squared - 4.0 * cutoff * d - s_squared);
                sum += 0.125 * inverse * (1.0 + 2.0 * d * below + cut + 2.0 * log((d - s) * inverse_cutoff));
            } else if (d > 4.0 * s) {
                double inverse_squared = inverse * inverse, t = s_squared * inverse_squared;
                double series =
                    t * (1.0 / 3.0 + t * (2.0 / 5.0 + t * (3.0 / 7.0 + t * (4.0 / 9.0 + t * (5.0 / 11.0)))));
                sum += s * inverse_squared * series;
            } else if (d > r + s) {
                sum += 0.5 * (s / (squared - s_squared) + 0.5 * inverse * log((d - s) / (d + s)));
            } else if (d > fabs(r - s)) {
                double cosine = 0.5 * inverse_r * inverse * (squared + r * r - s_squared), above = 1.0 / (d + s);
                sum += 0.25 * (inverse_r * (2.0 - cosine) - above + inverse * log(r * above));
            } else if (r < s) {
                double apart = s / (squared - s_squared);
                sum += 0.5 * (apart + 2.0 * inverse_r + 0.5 * inverse * log((s - d) / (s + d)));
            }
        }
        double psi = r * sum;
        double screened = tanh(psi * (1.0 - psi * (0.8 - psi * 4.85)));
        effective[i] = 1.0 / (inverse_r - screened / radius[i]);
    }
}
