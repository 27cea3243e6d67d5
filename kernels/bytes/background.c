/* A background model that follows each pixel by steps of one, in memory that nobody else accesses meanwhile. */
// survey: n i32 = 4000 | 1013; frame u8[n] random; model u8[n] random

#include <stdint.h>

//@ exclusive model
void background(int n, const uint8_t *restrict frame, uint8_t *restrict model) {
    //@ loop
    for (int i = 0; i < n; i++) {
        if (model[i] < frame[i])
            model[i]++;
        else if (model[i] > frame[i])
            model[i]--;
    }
}
