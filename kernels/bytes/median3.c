/* The median of three neighbours in a row. */
// survey: n i32 = 4000 | 1013; in u8[n+2] random; out u8[n]

#include <stdint.h>

static uint8_t least(uint8_t a, uint8_t b) { return a < b ? a : b; }
static uint8_t most(uint8_t a, uint8_t b) { return a > b ? a : b; }

void median3(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint8_t a = in[i], b = in[i + 1], c = in[i + 2];
        out[i] = most(least(a, b), least(most(a, b), c));
    }
}
