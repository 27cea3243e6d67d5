/* Three bytes become one word of 16 bits. */
// survey: n i32 = 3000; rgb u8[3*n] random; out u16[n]

#include <stdint.h>

void pack_rgb565(int n, const uint8_t *rgb, uint16_t *out) {
    //@ loop
    for (int i = 0; i < n; i++, rgb += 3)
        *out++ = ((rgb[0] >> 3) << 11) | ((rgb[1] >> 2) << 5) | (rgb[2] >> 3);
}
