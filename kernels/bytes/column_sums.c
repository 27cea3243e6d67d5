/* Rows added up to sums of columns. */
// survey: n i32 = 4000 | 1013; in u8[n] random; sums u16[n] in 0..60000

#include <stdint.h>

void column_sums(int n, const uint8_t *restrict in, uint16_t *restrict sums) {
    //@ loop
    for (int i = 0; i < n; i++)
        sums[i] += in[i];
}
