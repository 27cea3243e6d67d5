// Bytes: two pictures blended where a third says so, with saturation.
#include <stdint.h>
//@ args i=index
//@ range 0..65536
//@ bind a=u8[65536]=random
//@ bind b=u8[65536]=random
//@ bind mask=u8[65536]=random
//@ bind out=u8[65536]
void bytes(int i, const uint8_t *a, const uint8_t *b, const uint8_t *mask, uint8_t *out) {
  uint8_t x = a[i], y = b[i];
  if (mask[i] > 100) {
    uint8_t sum = x + y;
    out[i] = sum < x ? 255 : sum;
  } else {
    out[i] = x > y ? x - y : 0;
  }
}
