/* The least of three neighbours. */
// survey: n i32 = 4000 | 1013; in u8[n+2] random; out u8[n]

#include <stdint.h>

void erode3(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint8_t least = in[i];
        if (in[i + 1] < least)
            least = in[i + 1];
        if (in[i + 2] < least)
            least = in[i + 2];
        out[i] = least;
    }
}
