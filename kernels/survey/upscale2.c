/* Each pixel becomes four. */
// survey: w i32 = 40; h i32 = 30; in u32[w*h] random; out u32[4*w*h]

#include <stdint.h>

void upscale2(int w, int h, const uint32_t *in, uint32_t *out) {
    //@ loop
    for (int i = 0; i < 4 * w * h; i++) {
        int x = i % (2 * w), y = i / (2 * w);
        out[i] = in[(y / 2) * w + x / 2];
    }
}
