/* Times in milliseconds from times in microseconds. */
// survey: n i32 = 1000; in i64[n] in 0..1000000000; out i32[n]

#include <stdint.h>

void i64_to_i32(int n, const int64_t *in, int32_t *out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = (int32_t)(in[i] / 1000);
}
