/* nab_2.rs in C. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

//@ tolerance rel=1e-9, abs=1e-9

void nab_2(int32_t atoms, int32_t dim, const double *x, const double *charge, const double *effective,
           const int32_t *types, int32_t kinds, const double *repulsion, const double *attraction, const int32_t *first,
           const int32_t *pairs, const int32_t *first_bonded, const int32_t *bonded, int32_t *marks, double cutoff,
           double solvent, double salt, double *energies, double *gradient, double *slopes) {
    double farthest = cutoff * cutoff, inverse_solvent = 1.0 / solvent;
    double polarization = 0, coulomb = 0, van_der_waals = 0;
    for (int32_t i = 0; i < atoms; i++) {
        const double *at = x + (ptrdiff_t)dim * i;
        double xi = at[0], yi = at[1], zi = at[2], wi = dim == 4 ? at[3] : 0.0;
        double charge_i = charge[i], effective_i = effective[i];
        int32_t type_i = types[i] * kinds;
        double fx = 0, fy = 0, fz = 0, fw = 0, slope_i = 0;
        for (int32_t k = first_bonded[i]; k < first_bonded[i + 1]; k++)
            marks[bonded[k]] = i;
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
            double product = charge_i * charge[j], effective_j = effective[j], radii = effective_i * effective_j;
            double near = exp(-squared / (4.0 * radii));
            double inverse = 1.0 / sqrt(squared + radii * near);
            double screened = exp(-salt / inverse) * inverse_solvent;
            double contrast = 1.0 - screened;
            polarization -= product * contrast * inverse;
            double change = product * inverse * inverse * (contrast * inverse - salt * screened);
            double by_radii = 0.5 * change * near * (1.0 + squared / (4.0 * radii));
            slope_i += by_radii * effective_j;
            slopes[j] += by_radii * effective_i;
            double force = change * (1.0 - 0.25 * near);
            if (marks[j] != i) {
                double inverse_squared = 1.0 / squared;
                double energy = product * sqrt(inverse_squared);
                coulomb += energy;
                int32_t kind = type_i + types[j];
                double sixth = inverse_squared * inverse_squared * inverse_squared;
                double attracts = attraction[kind] * sixth, repels = repulsion[kind] * sixth * sixth;
                van_der_waals += repels - attracts;
                force -= (energy + 12.0 * repels - 6.0 * attracts) * inverse_squared;
            }
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
        slopes[i] += slope_i;
    }
    energies[0] += polarization;
    energies[1] += coulomb;
    energies[2] += van_der_waals;
}
