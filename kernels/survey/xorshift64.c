/* One step of many random generators. */
// survey: n i32 = 2000; state u64[n] random

#include <stdint.h>

void xorshift64(int n, uint64_t *state) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint64_t x = state[i];
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state[i] = x;
    }
}
