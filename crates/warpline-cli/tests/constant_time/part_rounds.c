#include <stdint.h>
struct keyed { uint8_t key[16]; unsigned rounds; };
uint8_t lookup(uint8_t x);
void mix(uint8_t *out, const uint8_t *in);
static int same(int x) { return x + 1; }
void blend(uint8_t *out, const struct keyed *k) {
  for (unsigned i = 0; i < k->rounds; i++) mix(out, k->key);
}
//@ secret k->key
uint8_t first(const struct keyed *k) { return lookup(k->key[same(0)]); }
int unrelated(const int *k) { return *k; }
