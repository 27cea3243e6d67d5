/* How many pixels are above a threshold. */
// survey: n i32 = 4000 | 1013; in u8[n] random; limit u8 = 100; -> i32

#include <stdint.h>

int count_above(int n, const uint8_t *in, uint8_t limit) {
    int count = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        if (in[i] > limit)
            count++;
    return count;
}
