/* Binary search, one key per lane.
 *
 * Shows: a kernel in C that returns a value. Lanes leave the loop in different iterations, and load from different places
 * (gathers); the keys are a varying parameter, so the driver takes an array of them. */

#include <stdint.h>

//@ args i=index, key=varying
//@ range 0..65536
//@ bind key=i32[65536]=0..100000
//@ bind sorted=i32[50000]=iota
//@ bind count=50000

/* The position of the key in the sorted array, or -1. */
int32_t binary_search(int32_t i, int32_t key, const int32_t *sorted, int32_t count) {
    int32_t low = 0, high = count;
    (void)i;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int32_t found = sorted[middle];
        if (found == key)
            return middle;
        if (found < key)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}
