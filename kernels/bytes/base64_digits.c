/* Three bytes as four digits of base64. */
// survey: n i32 = 4000 | 1013; in u8[3*n] random; out u8[4*n]

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_digits(int n, const uint8_t *restrict in, uint8_t *restrict out) {
    //@ loop
    for (int i = 0; i < n; i++) {
        uint8_t a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
        out[4 * i] = digits[a >> 2];
        out[4 * i + 1] = digits[(a & 3) << 4 | b >> 4];
        out[4 * i + 2] = digits[(b & 15) << 2 | c >> 6];
        out[4 * i + 3] = digits[c & 63];
    }
}
