// Bytes in memory, single precision in registers.
#include <stdint.h>
//@ args i=index
//@ range 0..65536
//@ bind r=u8[65536]=random
//@ bind g=u8[65536]=random
//@ bind b=u8[65536]=random
//@ bind out=u8[65536]
void grey(int i, const uint8_t *r, const uint8_t *g, const uint8_t *b, uint8_t *out) {
  float y = 0.299f * r[i] + 0.587f * g[i] + 0.114f * b[i];
  y = y > 128.0f ? y * 0.9f + 10.0f : y * 1.1f;
  out[i] = (uint8_t)y;
}
