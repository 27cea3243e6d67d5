/* xsbench.rs in C. */
#include <stddef.h>
#include <stdint.h>

enum { FIELDS = 6 };

void xsbench(int32_t materials, const int32_t *neutrons, const int32_t *contents, const int32_t *nuclides,
             const double *densities, int32_t points, const double *tables, const double *energies, double *total,
             double *elastic, double *absorption, double *fission, double *yields) {
    for (int32_t m = 0; m < materials; m++) {
        int32_t from = neutrons[m], to = neutrons[m + 1], first = contents[m], end = contents[m + 1];
        //@ loop independent
        for (int32_t i = from; i < to; i++) {
            double energy = energies[i];
            double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
            for (int32_t k = first; k < end; k++) {
                double density = densities[k];
                const double *table = tables + (ptrdiff_t)nuclides[k] * points * FIELDS;
                int32_t low = 0, high = points - 1;
                while (high - low > 1) {
                    int32_t middle = low + (high - low) / 2;
                    if (table[(ptrdiff_t)middle * FIELDS] > energy)
                        high = middle;
                    else
                        low = middle;
                }
                const double *below = table + (ptrdiff_t)low * FIELDS, *above = below + FIELDS;
                double part = (above[0] - energy) / (above[0] - below[0]);
                s0 += density * (above[1] - part * (above[1] - below[1]));
                s1 += density * (above[2] - part * (above[2] - below[2]));
                s2 += density * (above[3] - part * (above[3] - below[3]));
                s3 += density * (above[4] - part * (above[4] - below[4]));
                s4 += density * (above[5] - part * (above[5] - below[5]));
            }
            total[i] = s0;
            elastic[i] = s1;
            absorption[i] = s2;
            fission[i] = s3;
            yields[i] = s4;
        }
    }
}
