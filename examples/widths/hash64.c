// 64-bit integers: a hash of a few words.
#include <stdint.h>
//@ args i=index
//@ range 0..32768
//@ bind a=i64[32768]=random
//@ bind out=i64[32768]
void hash64(long i, const uint64_t *a, uint64_t *out) {
  uint64_t h = a[i];
  for (int k = 0; k < 16; k++) {
    h ^= h << 13;
    h ^= h >> 7;
    h ^= h << 17;
    h += a[k];
  }
  out[i] = h;
}
