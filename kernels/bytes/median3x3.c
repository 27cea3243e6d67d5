/* The middle one of each pixel and its eight neighbours. */
// survey: n i32 = 4000 | 1013; a u8[n+2] random; b u8[n+2] random; c u8[n+2] random; out u8[n]

#include <stdint.h>

static inline uint8_t lesser(uint8_t a, uint8_t b) { return a < b ? a : b; }
static inline uint8_t greater(uint8_t a, uint8_t b) { return a > b ? a : b; }
static inline uint8_t middle(uint8_t a, uint8_t b, uint8_t c) {
    return greater(lesser(a, b), lesser(greater(a, b), c));
}

void median3x3(int n, const uint8_t *restrict a, const uint8_t *restrict b, const uint8_t *restrict c,
               uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint8_t low[3], mid[3], high[3];
        for (int k = 0; k < 3; k++) {
            uint8_t x = a[i + k], y = b[i + k], z = c[i + k];
            low[k] = lesser(x, lesser(y, z));
            mid[k] = middle(x, y, z);
            high[k] = greater(x, greater(y, z));
        }
        out[i] = middle(greater(low[0], greater(low[1], low[2])), middle(mid[0], mid[1], mid[2]),
                        lesser(high[0], lesser(high[1], high[2])));
    }
}
