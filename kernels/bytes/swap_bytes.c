/* Shorts in the other order of bytes. */
// survey: n i32 = 4000 | 1013; src u16[n] random; dst u16[n]

#include <stdint.h>

void swap_bytes(int n, const uint16_t *restrict src, uint16_t *restrict dst) {
    //@ loop
    for (int i = 0; i < n; i++)
        dst[i] = (uint16_t)(src[i] << 8 | src[i] >> 8);
}
