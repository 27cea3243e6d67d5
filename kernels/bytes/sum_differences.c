/* The sum of absolute differences. */
// survey: n i32 = 4000 | 1013; a u8[n] random; b u8[n] random; -> i32

#include <stdint.h>
#include <stdlib.h>

int sum_differences(int n, const uint8_t *a, const uint8_t *b) {
    int sum = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        sum += abs(a[i] - b[i]);
    return sum;
}
