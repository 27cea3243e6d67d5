// Functions through pointers and tables, structures by value, assembly, and addresses in global variables.
#include <stdint.h>
#include <string.h>

struct state { uint32_t words[8]; uint32_t count; };
struct pair { uint32_t key, number; };

static int decide(struct state s) {
  if (s.words[3]) return 1;
  return s.count == 0 ? 2 : 3; // the count
}
int by_value(const struct state *s) { return decide(*s); }
int given_by_value(struct state s, int n) { return decide(s) + n; }
int in_registers(struct pair p) {
  if (p.key & 1) return 1;
  return 0;
}
static struct state made(const uint32_t *words) {
  struct state s;
  memcpy(s.words, words, sizeof s.words);
  s.count = 8;
  return s;
}
struct state give(const uint32_t *words, struct pair *p) {
  if (p->key == 7) words++; // behind a result
  return made(words);
}

static const uint8_t table[256] = { 7, 5, 3, 1 };
struct cipher { unsigned rounds; void (*run)(const uint8_t *key, uint8_t *out); };
static void run_table(const uint8_t *key, uint8_t *out) {
  for (int i = 0; i < 16; i++) out[i] = table[key[i]]; // a lookup
}
static void run_bits(const uint8_t *key, uint8_t *out) {
  for (int i = 0; i < 16; i++) out[i] = key[i] ^ (key[i] << 1);
}
static const struct cipher by_table = { 10, run_table }, by_bits = { 10, run_bits };
void with_table(const uint8_t *key, uint8_t *out) { by_table.run(key, out); }
void with_bits(const uint8_t *key, uint8_t *out) {
  const struct cipher copy = by_bits;
  for (unsigned i = 0; i < copy.rounds; i++) copy.run(key, out);
}
void with_any(const struct cipher *c, const uint8_t *key, uint8_t *out) {
  for (unsigned i = 0; i < c->rounds; i++) c->run(key, out); // any cipher
}
void with_either(const uint8_t *key, uint8_t *out) {
  const struct cipher *c = key[0] & 1 ? &by_table : &by_bits; // which cipher
  c->run(key, out);                                            // either cipher
}
extern void elsewhere(uint8_t *key);
void with_unknown(struct cipher *c, uint8_t *key, uint8_t *out) {
  struct { struct cipher *c; uint8_t *key; } both = { c, key };
  elsewhere((uint8_t *)&both); // not here
  for (unsigned i = 0; i < c->rounds; i++) out[i] = 0;
}

static void wipe(void *p, size_t n) {
  memset(p, 0, n);
  __asm__ volatile("" : : "r"(p) : "memory");
}
static uint32_t barrier(uint32_t x) {
  __asm__("" : "+r"(x));
  return x;
}
uint32_t wiped(const struct state *s, const uint32_t *key) {
  uint32_t copy[8], sum = 0;
  memcpy(copy, key, sizeof copy);
  for (unsigned i = 0; i < s->count; i++) sum ^= barrier(copy[i & 7]);
  wipe(copy, sizeof copy);
  if (s->count == 0) return 0;
  return sum;
}
uint32_t after_barrier(uint32_t key) {
  if (barrier(key)) return 1; // behind a barrier
  return 0;
}
uint32_t assembly(uint32_t key) {
  __asm__("nop" : "+r"(key)); // instructions
  return key;
}

static uint8_t master[32];
static uint8_t *current = master;
static struct { int n; const uint8_t *bytes; } held = { 32, master };
void choose(uint8_t *other) { current = other; }
int through_global(void) {
  if (current[0]) return 1; // the current key
  return 0;
}
int through_member(void) {
  if (held.n < 4) return 2;
  if (held.bytes[4]) return 1; // the held key
  return 0;
}

static int count(int n) {
  int local[4] = { n, 2, 3, 4 };
  int found = 0;
  for (int i = 0; i < 4; i++)
    if (local[i] > 2) found++;
  return found;
}
int once(int key, int n) {
  int found = 0;
  if (key) found = count(n); // once
  return found;
}

int in_a_union(uint32_t key, uint64_t number, int which) {
  uint8_t copy[4] = { 0 };
  union { uint64_t number; const uint8_t *bytes; } u;
  u.number = number;
  if (which < 0) return 0;
  copy[0] = key & 1;
  copy[1] = key >> 1 & 1;
  u.bytes = copy;
  if (u.bytes[which & 3]) return 1; // in a union
  return 0;
}
