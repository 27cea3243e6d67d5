/* A row at twice the width: pixels, and means of neighbours between them. */
// survey: n i32 = 4000 | 1013; in u8[n+1] random; out u8[2*n]

#include <stdint.h>

void double_row(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        out[2 * i] = in[i];
        out[2 * i + 1] = (in[i] + in[i + 1] + 1) >> 1;
    }
}
