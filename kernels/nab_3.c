/* nab_3.rs in C. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

//@ tolerance rel=1e-9, abs=1e-9

#define OFFSET 0.09

void nab_3(int32_t atoms, int32_t dim, const double *x, const double *radius, const double *scale, const double *weight,
           const int32_t *first, const int32_t *pairs, double cutoff, double largest, double *gradient) {
    double farthest = (cutoff + largest) * (cutoff + largest);
    double inverse_cutoff = 1.0 / cutoff, cutoff_squared = 1.0 / (cutoff * cutoff);
    for (int32_t i = 0; i < atoms; i++) {
        const double *at = x + (ptrdiff_t)dim * i;
        double xi = at[0], yi = at[1], zi = at[2], wi = dim == 4 ? at[3] : 0.0;
        double r = radius[i] - OFFSET, r_squared = r * r, inverse_r = 1.0 / r;
        double weight_i = weight[i];
        double fx = 0, fy = 0, fz = 0, fw = 0;
        int32_t from = first[i], to = first[i + 1];
        //@ loop independent any-order
        for (int32_t k = from; k < to; k++) {
            int32_t j = pairs[k];
            const double *at = x + (ptrdiff_t)dim * j;
            double dx = xi - at[0], dy = yi - at[1], dz = zi - at[2], dw = 0;
            double squared = dx * dx + dy * dy + dz * dz;
            if (dim == 4) {
                dw = wi - at[3];
                squared += dw * dw;
            }
            if (squared > farthest)
                continue;
            double inverse = 1.0 / sqrt(squared), inverse_squared = inverse * inverse, d = squared * inverse;
            double s = scale[j] * (radius[j] - OFFSET), s_squared = s * s;
            if (d > cutoff + s)
                continue;
            double change = 0;
            if (d > cutoff - s) {
                double below = 1.0 / (d - s), logarithm = log((d - s) * inverse_cutoff);
                double cut = 0.125 * cutoff_squared * (1.0 + s_squared * inverse_squared);
                change = cut - 0.25 * below * (below - inverse) - inverse_squared * (0.125 + 0.25 * logarithm);
            } else if (d > 4.0 * s) {
                double t = s_squared * inverse_squared;
                double series =
                    t * (2.0 / 3.0 + t * (6.0 / 5.0 + t * (12.0 / 7.0 + t * (20.0 / 9.0 + t * (30.0 / 11.0)))));
                change = -2.0 * s * inverse * inverse_squared * series;
            } else if (d > r + s) {
                double apart = 1.0 / (squared - s_squared), logarithm = log((d - s) / (d + s));
                change = s * apart * (0.5 * inverse - d * apart) - 0.25 * inverse_squared * logarithm;
            } else if (d > fabs(r - s)) {
                double above = 1.0 / (d + s), logarithm = log(r * above);
                double cosine = 0.5 * inverse_r * inverse_r * (1.0 - (r_squared - s_squared) * inverse_squared);
                change = 0.25 * (above * (above - inverse) - cosine - inverse_squared * logarithm);
            } else if (r < s) {
                double apart = 1.0 / (squared - s_squared), logarithm = log((s - d) / (s + d));
                change = s * apart * (0.5 * inverse - d * apart) - 0.25 * inverse_squared * logarithm;
            }
            double force = weight_i * change * inverse;
            double *to_j = gradient + (ptrdiff_t)dim * j;
            fx += force * dx;
            fy += force * dy;
            fz += force * dz;
            to_j[0] -= force * dx;
            to_j[1] -= force * dy;
            to_j[2] -= force * dz;
            if (dim == 4) {
                fw += force * dw;
                to_j[3] -= force * dw;
            }
        }
        double *to_i = gradient + (ptrdiff_t)dim * i;
        to_i[0] += fx;
        to_i[1] += fy;
        to_i[2] += fz;
        if (dim == 4)
            to_i[3] += fw;
    }
}
