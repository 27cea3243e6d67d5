/* Products of large integers. */
// survey: n i64 = 2000; a i64[n] random; b i64[n] random; out i64[n]

#include <stdint.h>

void mul_i64(int64_t n, const int64_t *restrict a, const int64_t *restrict b, int64_t *restrict out) {
    //@ loop
    for (int64_t i = 0; i < n; i++)
        out[i] = (int64_t)((uint64_t)a[i] * (uint64_t)b[i]);
}
