// Poly1305 with limbs of 26 bits, as portable libraries have it: the block in progress beside the key in one context.
#include <stddef.h>
#include <stdint.h>
struct poly1305 { uint32_t r[5], h[5], pad[4]; size_t left; uint8_t buffer[16]; uint8_t final; };
static uint32_t load32(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }
static void store32(uint8_t *p, uint32_t v) { p[0] = v; p[1] = v >> 8; p[2] = v >> 16; p[3] = v >> 24; }
void poly1305_init(struct poly1305 *st, const uint8_t key[32]) {
  st->r[0] = load32(key) & 0x3ffffff;
  st->r[1] = load32(key + 3) >> 2 & 0x3ffff03;
  st->r[2] = load32(key + 6) >> 4 & 0x3ffc0ff;
  st->r[3] = load32(key + 9) >> 6 & 0x3f03fff;
  st->r[4] = load32(key + 12) >> 8 & 0x00fffff;
  for (int i = 0; i < 5; i++) st->h[i] = 0;
  for (int i = 0; i < 4; i++) st->pad[i] = load32(key + 16 + 4 * i);
  st->left = 0;
  st->final = 0;
}
static void blocks(struct poly1305 *st, const uint8_t *m, size_t bytes) {
  const uint32_t top = st->final ? 0 : 1 << 24;
  while (bytes >= 16) {
    uint64_t d[5], carry = 0;
    st->h[0] += load32(m) & 0x3ffffff;
    st->h[1] += load32(m + 3) >> 2 & 0x3ffffff;
    st->h[2] += load32(m + 6) >> 4 & 0x3ffffff;
    st->h[3] += load32(m + 9) >> 6 & 0x3ffffff;
    st->h[4] += load32(m + 12) >> 8 | top;
    for (int i = 0; i < 5; i++) {
      d[i] = 0;
      for (int j = 0; j < 5; j++) d[i] += (uint64_t)st->h[j] * (j <= i ? st->r[i - j] : 5 * st->r[5 + i - j]);
    }
    for (int i = 0; i < 5; i++) {
      d[i] += carry;
      st->h[i] = (uint32_t)d[i] & 0x3ffffff;
      carry = d[i] >> 26;
    }
    st->h[0] += (uint32_t)carry * 5;
    m += 16;
    bytes -= 16;
  }
}
void poly1305_update(struct poly1305 *st, const uint8_t *m, size_t bytes) {
  if (st->left) {
    size_t want = 16 - st->left;
    if (want > bytes) want = bytes;
    for (size_t i = 0; i < want; i++) st->buffer[st->left + i] = m[i];
    bytes -= want;
    m += want;
    st->left += want;
    if (st->left < 16) return;
    blocks(st, st->buffer, 16);
    st->left = 0;
  }
  if (bytes >= 16) {
    size_t want = bytes & ~(size_t)15;
    blocks(st, m, want);
    m += want;
    bytes -= want;
  }
  for (size_t i = 0; i < bytes; i++) st->buffer[st->left + i] = m[i];
  st->left += bytes;
}
void poly1305_finish(struct poly1305 *st, uint8_t mac[16]) {
  uint32_t g[5], carry = 5, mask;
  if (st->left) {
    size_t i = st->left;
    st->buffer[i++] = 1;
    for (; i < 16; i++) st->buffer[i] = 0;
    st->final = 1;
    blocks(st, st->buffer, 16);
  }
  for (int i = 0; i < 5; i++) {
    g[i] = st->h[i] + carry;
    carry = g[i] >> 26;
    g[i] &= 0x3ffffff;
  }
  mask = carry - 1;
  for (int i = 0; i < 5; i++) st->h[i] = (st->h[i] & mask) | (g[i] & ~mask);
  uint64_t f = 0;
  uint32_t word[4] = { st->h[0] | st->h[1] << 26, st->h[1] >> 6 | st->h[2] << 20, st->h[2] >> 12 | st->h[3] << 14,
                       st->h[3] >> 18 | st->h[4] << 8 };
  for (int i = 0; i < 4; i++) {
    f += (uint64_t)word[i] + st->pad[i];
    store32(mac + 4 * i, (uint32_t)f);
    f >>= 32;
  }
}
void poly1305(uint8_t mac[16], const uint8_t *m, size_t bytes, const uint8_t key[32]) {
  struct poly1305 st;
  poly1305_init(&st, key);
  poly1305_update(&st, m, bytes);
  poly1305_finish(&st, mac);
}
