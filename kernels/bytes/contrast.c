/* Contrast and brightness in fixed point. */
// survey: n i32 = 4000 | 1013; gain i32 = 83; shift i32 = 12; in u8[n] random; out u8[n]

#include <stdint.h>

void contrast(int n, int gain, int shift, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int x = ((in[i] - 128) * gain >> 6) + 128 + shift;
        out[i] = x < 0 ? 0 : x > 255 ? 255 : x;
    }
}
