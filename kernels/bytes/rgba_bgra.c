/* RGBA to BGRA, with pointers of which nothing is promised. */
// survey: n i32 = 4000 | 1013; src u8[4*n] random; dst u8[4*n]

#include <stdint.h>

void rgba_bgra(int n, const uint8_t *src, uint8_t *dst) {
    //@ loop
    for (int i = 0; i < n; i++) {
        dst[4 * i] = src[4 * i + 2];
        dst[4 * i + 1] = src[4 * i + 1];
        dst[4 * i + 2] = src[4 * i];
        dst[4 * i + 3] = src[4 * i + 3];
    }
}
