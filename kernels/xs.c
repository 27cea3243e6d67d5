/* xs.rs in C. */
#include <stdint.h>

//@ args i=index, query=varying

int32_t xs(int32_t i, double query, const double *sorted, int32_t count) {
    (void)i;
    int32_t low = 0, high = count;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (sorted[middle] > query)
            high = middle;
        else
            low = middle;
    }
    return low;
}
