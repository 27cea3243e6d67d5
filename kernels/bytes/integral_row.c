/* A row of an integral image: what is above, and the sum of the row up to here. */
// survey: n i32 = 4000 | 1013; in u8[n] random; above u32[n] in 0..1000000; out u32[n]; omp no

#include <stdint.h>

void integral_row(int n, const uint8_t *restrict in, const uint32_t *restrict above, uint32_t *restrict out) {
    uint32_t sum = 0;
    //@ loop
    for (int i = 0; i < n; i++) {
        sum += in[i];
        out[i] = above[i] + sum;
    }
}
