#include <stdint.h>
void rgba_bgra(int n, const uint8_t *src, uint8_t *dst) {
    //@ loop
    for (int i = 0; i < n; i++) {
        dst[4*i] = src[4*i+2];
        dst[4*i+1] = src[4*i+1];
        dst[4*i+2] = src[4*i];
        dst[4*i+3] = src[4*i+3];
    }
}
