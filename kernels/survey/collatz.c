/* How many steps numbers take to reach 1. */
// survey: n i32 = 1000; start u32[n] in 1..10000; steps i32[n]

#include <stdint.h>

void collatz(int n, const uint32_t *start, int *steps) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint32_t x = start[i];
        int count = 0;
        while (x != 1) {
            x = x % 2 == 0 ? x / 2 : 3 * x + 1;
            count++;
        }
        steps[i] = count;
    }
}
