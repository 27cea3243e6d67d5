#include <stdint.h>
static const uint8_t values[256] = { 1, 2, 3 };
static int same(int x) { return x; }
uint8_t lookup(uint8_t x) { return values[same(x)]; }
void mix(uint8_t *out, const uint8_t *in) {
  for (int i = 0; i < 16; i++) out[i] ^= in[i];
}
