/* Black or white. */
// survey: n i32 = 4000 | 1013; in u8[n] random; limit u8 = 100; out u8[n]

#include <stdint.h>

void binarize(int n, const uint8_t *restrict in, uint8_t limit, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = in[i] > limit ? 255 : 0;
}
