// 16-bit integers: a filter over neighbours.
#include <stdint.h>
//@ args i=index
//@ range 0..32000
//@ bind a=i16[32768]=random
//@ bind out=i16[32768]
void shorts(int i, const int16_t *a, int16_t *out) {
  int16_t sum = 0;
  for (int k = 0; k < 16; k++) {
    int16_t x = a[i + k];
    sum += (int16_t)(x * (int16_t)(k - 7)) >> 3;
    if (x > 1000) sum -= 9;
  }
  out[i] = sum;
}
