/* Which boxes overlap one box. */
// survey: n i32 = 2000; boxes i32[4*n] in 0..1000; x i32 = 200; y i32 = 300; w i32 = 300; h i32 = 200; hit u8[n]

#include <stdint.h>

struct box {
    int x, y, w, h;
};

void box_overlap(int n, const struct box *boxes, int x, int y, int w, int h, uint8_t *hit) {
    //@ loop
    for (int i = 0; i < n; i++) {
        const struct box *b = &boxes[i];
        hit[i] = b->x < x + w && x < b->x + b->w && b->y < y + h && y < b->y + b->h;
    }
}
