/* The negative of packed RGB, in place. */
// survey: n i32 = 4000 | 1013; rgb u8[3*n] random

#include <stdint.h>

void invert_rgb(int n, uint8_t *rgb) {
    //@ loop
    for (int i = 0; i < n; i++) {
        rgb[3 * i] = 255 - rgb[3 * i];
        rgb[3 * i + 1] = 255 - rgb[3 * i + 1];
        rgb[3 * i + 2] = 255 - rgb[3 * i + 2];
    }
}
