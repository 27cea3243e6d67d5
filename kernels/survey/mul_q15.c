/* Products of fixed-point numbers with 15 bits behind the point. */
// survey: n i32 = 4000; a i16[n] random; b i16[n] random; out i16[n]

#include <stdint.h>

void mul_q15(int n, const int16_t *a, const int16_t *b, int16_t *out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        int32_t p = (int32_t)a[i] * b[i];
        out[i] = (int16_t)((p + 0x4000) >> 15);
    }
}
