/* The greatest of all bytes. */
// survey: n i32 = 4000 | 1013; x u8[n] random; -> i32

#include <stdint.h>

uint32_t greatest(int n, const uint8_t *x) {
    uint8_t most = 0;
    //@ loop
    for (int i = 0; i < n; i++)
        if (x[i] > most) most = x[i];
    return most;
}
