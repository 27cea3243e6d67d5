/* The distance of the least and the greatest byte. */
// survey: n i32 = 4000 | 1013; in u8[n] random; -> i32; omp reduction(min:low) reduction(max:high)

#include <stdint.h>

int contrast_range(int n, const uint8_t *in) {
    uint8_t low = 255, high = 0;
    //@ loop
    for (int i = 0; i < n; i++) {
        if (in[i] < low)
            low = in[i];
        if (in[i] > high)
            high = in[i];
    }
    return high - low;
}
