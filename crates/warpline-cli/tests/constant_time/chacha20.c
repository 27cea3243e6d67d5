#include <stdint.h>
#include <stddef.h>
#include <string.h>
#define R(a,b) (((a)<<(b))|((a)>>(32-(b))))
#define QR(a,b,c,d) a+=b; d=R(d^a,16); c+=d; b=R(b^c,12); a+=b; d=R(d^a,8); c+=d; b=R(b^c,7);
struct chacha { uint32_t state[16]; uint8_t left[64]; size_t have; };
static uint32_t load32(const uint8_t *p) { return p[0] | (uint32_t)p[1]<<8 | (uint32_t)p[2]<<16 | (uint32_t)p[3]<<24; }
static void store32(uint8_t *p, uint32_t v) { p[0]=v; p[1]=v>>8; p[2]=v>>16; p[3]=v>>24; }
void chacha_setup(struct chacha *c, const uint8_t *key, const uint8_t *nonce, uint32_t counter) {
  c->state[0]=0x61707865; c->state[1]=0x3320646e; c->state[2]=0x79622d32; c->state[3]=0x6b206574;
  for (int i = 0; i < 8; i++) c->state[4+i] = load32(key + 4*i);
  c->state[12] = counter;
  for (int i = 0; i < 3; i++) c->state[13+i] = load32(nonce + 4*i);
  c->have = 0;
}
static void block(struct chacha *c, uint8_t out[64]) {
  uint32_t x[16];
  for (int i = 0; i < 16; i++) x[i] = c->state[i];
  for (int i = 0; i < 10; i++) {
    QR(x[0],x[4],x[8],x[12]) QR(x[1],x[5],x[9],x[13]) QR(x[2],x[6],x[10],x[14]) QR(x[3],x[7],x[11],x[15])
    QR(x[0],x[5],x[10],x[15]) QR(x[1],x[6],x[11],x[12]) QR(x[2],x[7],x[8],x[13]) QR(x[3],x[4],x[9],x[14])
  }
  for (int i = 0; i < 16; i++) store32(out + 4*i, x[i] + c->state[i]);
  if (++c->state[12] == 0) c->state[13]++;
}
void chacha_xor(struct chacha *c, uint8_t *out, const uint8_t *in, size_t n) {
  while (n && c->have) { *out++ = *in++ ^ c->left[64 - c->have]; c->have--; n--; }
  while (n >= 64) {
    block(c, c->left);
    for (int i = 0; i < 64; i++) out[i] = in[i] ^ c->left[i];
    out += 64; in += 64; n -= 64;
  }
  if (n) {
    block(c, c->left);
    c->have = 64;
    while (n--) { *out++ = *in++ ^ c->left[64 - c->have]; c->have--; }
  }
}
void chacha20(const uint8_t *key, const uint8_t *nonce, uint8_t *out, const uint8_t *in, size_t n) {
  struct chacha c;
  chacha_setup(&c, key, nonce, 1);
  chacha_xor(&c, out, in, n);
  memset(&c, 0, sizeof c);
}
