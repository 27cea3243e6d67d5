/* Red for blue and blue for red, in place. */
// survey: n i32 = 3000; p u8[4*n] random

#include <stdint.h>

void bgr_swap(int n, uint8_t *p) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint8_t t = p[4 * i];
        p[4 * i] = p[4 * i + 2];
        p[4 * i + 2] = t;
    }
}
