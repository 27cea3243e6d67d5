/* The sum of the squares of bytes, for a variance. */
// survey: n i32 = 4000 | 1013; x u8[n] random; -> i32

#include <stdint.h>

uint32_t sum_squares(int n, const uint8_t *x) {
    uint32_t sum = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}
