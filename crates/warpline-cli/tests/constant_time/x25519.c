// X25519 by a Montgomery ladder with swaps under masks, in limbs of 16 bits.
#include <stdint.h>
typedef int64_t gf[16];
static const gf constant = { 0xdb41, 1 };
static void carry(gf o) {
  for (int i = 0; i < 16; i++) {
    o[i] += (int64_t)1 << 16;
    int64_t c = o[i] >> 16;
    o[(i + 1) * (i < 15)] += c - 1 + 37 * (c - 1) * (i == 15);
    o[i] -= c << 16;
  }
}
static void swap(gf p, gf q, int64_t b) {
  int64_t c = ~(b - 1);
  for (int i = 0; i < 16; i++) {
    int64_t t = c & (p[i] ^ q[i]);
    p[i] ^= t;
    q[i] ^= t;
  }
}
static void pack(uint8_t *o, const gf n) {
  gf m, t;
  for (int i = 0; i < 16; i++) t[i] = n[i];
  carry(t), carry(t), carry(t);
  for (int j = 0; j < 2; j++) {
    m[0] = t[0] - 0xffed;
    for (int i = 1; i < 15; i++) {
      m[i] = t[i] - 0xffff - ((m[i - 1] >> 16) & 1);
      m[i - 1] &= 0xffff;
    }
    m[15] = t[15] - 0x7fff - ((m[14] >> 16) & 1);
    int64_t b = (m[15] >> 16) & 1;
    m[14] &= 0xffff;
    swap(t, m, 1 - b);
  }
  for (int i = 0; i < 16; i++) {
    o[2 * i] = t[i] & 0xff;
    o[2 * i + 1] = t[i] >> 8;
  }
}
static void unpack(gf o, const uint8_t *n) {
  for (int i = 0; i < 16; i++) o[i] = n[2 * i] + ((int64_t)n[2 * i + 1] << 8);
  o[15] &= 0x7fff;
}
static void add(gf o, const gf a, const gf b) { for (int i = 0; i < 16; i++) o[i] = a[i] + b[i]; }
static void sub(gf o, const gf a, const gf b) { for (int i = 0; i < 16; i++) o[i] = a[i] - b[i]; }
static void mul(gf o, const gf a, const gf b) {
  int64_t t[31];
  for (int i = 0; i < 31; i++) t[i] = 0;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) t[i + j] += a[i] * b[j];
  for (int i = 0; i < 15; i++) t[i] += 38 * t[i + 16];
  for (int i = 0; i < 16; i++) o[i] = t[i];
  carry(o), carry(o);
}
static void invert(gf o, const gf i) {
  gf c;
  for (int a = 0; a < 16; a++) c[a] = i[a];
  for (int a = 253; a >= 0; a--) {
    mul(c, c, c);
    if (a != 2 && a != 4) mul(c, c, i);
  }
  for (int a = 0; a < 16; a++) o[a] = c[a];
}
void x25519(uint8_t *q, const uint8_t *n, const uint8_t *p) {
  uint8_t z[32];
  gf x, a, b, c, d, e, f;
  for (int i = 0; i < 31; i++) z[i] = n[i];
  z[31] = (n[31] & 127) | 64;
  z[0] &= 248;
  unpack(x, p);
  for (int i = 0; i < 16; i++) {
    b[i] = x[i];
    d[i] = a[i] = c[i] = 0;
  }
  a[0] = d[0] = 1;
  for (int i = 254; i >= 0; i--) {
    int64_t r = (z[i >> 3] >> (i & 7)) & 1;
    swap(a, b, r), swap(c, d, r);
    add(e, a, c), sub(a, a, c), add(c, b, d), sub(b, b, d);
    mul(d, e, e), mul(f, a, a), mul(a, c, a), mul(c, b, e);
    add(e, a, c), sub(a, a, c);
    mul(b, a, a), sub(c, d, f), mul(a, c, constant);
    add(a, a, d), mul(c, c, a), mul(a, d, f), mul(d, b, x), mul(b, e, e);
    swap(a, b, r), swap(c, d, r);
  }
  invert(c, c);
  mul(a, a, c);
  pack(q, a);
}
