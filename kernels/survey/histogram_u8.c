/* How often each byte occurs. */
// survey: n i32 = 8000; in u8[n] random; counts u32[256]; omp no

#include <stdint.h>

void histogram_u8(int n, const uint8_t *in, uint32_t *counts) {
    //@ loop
    for (int i = 0; i < n; i++)
        counts[in[i]]++;
}
