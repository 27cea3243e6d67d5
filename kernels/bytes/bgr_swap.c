/* RGB to BGR. */
// survey: n i32 = 4000 | 1013; src u8[3*n] random; dst u8[3*n]

#include <stdint.h>

void bgr_swap(int n, const uint8_t *restrict src, uint8_t *restrict dst) {
    //@ loop
    for (int i = 0; i < n; i++) {
        dst[3 * i] = src[3 * i + 2];
        dst[3 * i + 1] = src[3 * i + 1];
        dst[3 * i + 2] = src[3 * i];
    }
}
