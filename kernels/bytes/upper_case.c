/* ASCII in upper case. */
// survey: n i32 = 4000 | 1013; in u8[n] in 32..127; out u8[n]

#include <stdint.h>

void upper_case(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++)
        out[i] = in[i] >= 'a' && in[i] <= 'z' ? in[i] - 'a' + 'A' : in[i];
}
