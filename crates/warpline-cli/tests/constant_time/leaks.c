// What is known to leak: lookups in tables, comparisons that end early, divisions, branches on bits of a key.
#include <stddef.h>
#include <stdint.h>
#include "warpline.h"
static const uint8_t sbox[256] = { 0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b };
struct aes { uint8_t round_keys[176]; uint8_t iv[16]; unsigned rounds; };
static void sub_bytes(uint8_t state[16]) { for (int i = 0; i < 16; i++) state[i] = sbox[state[i]]; }
void aes_encrypt(const struct aes *c, uint8_t block[16]) {
  for (unsigned round = 0; round < c->rounds; round++) {
    for (int i = 0; i < 16; i++) block[i] ^= c->round_keys[16 * round + i];
    sub_bytes(block);
  }
}
int compare_early(const uint8_t *tag, const uint8_t *expected, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (tag[i] != expected[i]) return -1;
  return 0;
}
int compare_all(const uint8_t *tag, const uint8_t *expected, size_t n) {
  uint8_t differ = 0;
  for (size_t i = 0; i < n; i++) differ |= tag[i] ^ expected[i];
  if (warpline_declassify_i32(differ)) return -1;
  return 0;
}
uint32_t reduce(uint32_t secret, uint32_t modulus) { return secret % modulus; }
uint32_t power(uint32_t base, uint32_t exponent) {
  uint32_t result = 1;
  for (int i = 31; i >= 0; i--) {
    result *= result;
    if (exponent >> i & 1) result *= base;
  }
  return result;
}
struct context { uint8_t key[32]; uint32_t counter; const uint8_t *table; };
//@ secret c->key
int step(struct context *c, uint8_t *out, const uint8_t *in, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = in[i] ^ c->key[i & 31];
  if (++c->counter == 0) return -1;
  return 0;
}
//@ secret c->table
int through(const struct context *c, int i) { return sbox[c->table[i]] + (c->key[0] ? 1 : 2); }
uint32_t seed[4];
uint32_t draw(void) {
  //@ accept secret-branch: the state is reset in public
  if (seed[0] == 0) seed[0] = 1;
  return seed[1] * 3;
}
static int depth(const uint8_t *key, int n) { return n == 0 ? key[0] : depth(key, n - 1) + 1; }
int recursive(const uint8_t *key) { return depth(key, 3) * 2; }
uint8_t random_byte(void);
int named(void) { return sbox[random_byte()]; }
struct slot { uint32_t counter; uint8_t key[12]; };
struct slots { struct slot all[8]; unsigned used; };
int next(struct slots *c, unsigned i, uint8_t *restrict out) {
  for (int k = 0; k < 12; k++) out[k] ^= c->all[i & 7].key[k];
  if (++c->all[i & 7].counter == 0) return -1;
  return c->used > 3;
}
int first_key(struct slot *s, int n) {
  for (int i = 0; i < n; i++)
    if (s[i].key[0] == 0) return i;
  return s[n].counter > 9;
}
