/* Bytes as hexadecimal digits. */
// survey: n i32 = 4000 | 1013; in u8[n] random; out u8[2*n]

#include <stdint.h>

void hex_digits(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    static const char digits[16] = "0123456789abcdef";
    //@ loop
    for (int i = 0; i < n; i++) {
        out[2 * i] = digits[in[i] >> 4];
        out[2 * i + 1] = digits[in[i] & 15];
    }
}
