/* Runs kernels as scalar code and in lanes over the same ranges, and compares what they leave behind. The program is made of this file, of
 * a file that defines `cases`, and of the kernels' objects; `machines/main.rs` writes and links them.
 *
 * Buffers lie between inaccessible pages, once at the end of their own pages and once at the start. */
#define _GNU_SOURCE
#include "harness.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 16, MAX_CALLS = 4096, CANARY = 0xa5 };

static const char *running = "nothing";
static size_t page;

/* Calls that kernels have made of `log_call`. */
static struct call { uint32_t who, what; } calls[MAX_CALLS];
static size_t call_count;

void log_call(uint32_t who, uint32_t what) {
  if (call_count == MAX_CALLS) abort();
  calls[call_count++] = (struct call){who, what};
}

/* Where functions lead that kernels call and nobody defines. */
void __warpline_missing(const char *name) {
  printf("%s: calls %s\n", running, name);
  fflush(stdout);
  _exit(1);
}

static void died(int signal) {
  printf("%s: signal %d\n", running, signal);
  fflush(stdout);
  _exit(1);
}

struct guarded { unsigned char *base, *bytes; size_t size, inner; };

static struct guarded guard(const unsigned char *bytes, size_t size, int at_end) {
  size_t inner = (size + page) / page * page;
  unsigned char *base = mmap(NULL, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED || mprotect(base + page, inner, PROT_READ | PROT_WRITE) != 0) abort();
  memset(base + page, CANARY, inner);
  struct guarded g = {base, base + page + (at_end ? inner - size : 0), size, inner};
  if (bytes) memcpy(g.bytes, bytes, size);
  return g;
}

/* Whether the bytes between the inaccessible pages are equal. */
static int equal(const struct guarded *a, const struct guarded *b) {
  return memcmp(a->base + page, b->base + page, a->inner) == 0;
}

struct left { struct guarded buffers[MAX_ARGUMENTS + 1]; size_t buffer_count; struct call calls[MAX_CALLS]; size_t call_count; };

static int by_caller(const void *a, const void *b) {
  const struct call *x = a, *y = b;
  return x->who < y->who ? -1 : x->who > y->who;
}

static void run(const struct test *test, entry *code, uint64_t count, int at_end, struct left *left) {
  uint64_t slots[MAX_ARGUMENTS + 3] = {test->begin, test->begin + count};
  size_t n = 2, buffers = 0;
  for (size_t k = 0; k < test->argument_count; k++) {
    const struct argument *a = &test->arguments[k];
    if (a->kind == UNIFORM) {
      slots[n++] = a->value;
      continue;
    }
    size_t size = a->kind == VARYING ? a->size / test->count * count : a->size;
    left->buffers[buffers] = guard(a->bytes, size, at_end);
    slots[n++] = (uint64_t)(uintptr_t)left->buffers[buffers++].bytes;
  }
  if (test->result) {
    left->buffers[buffers] = guard(NULL, test->result * count, at_end);
    slots[n++] = (uint64_t)(uintptr_t)left->buffers[buffers++].bytes;
  }
  left->buffer_count = buffers;
  call_count = 0;
  code(slots);
  left->call_count = call_count;
  memcpy(left->calls, calls, sizeof calls);
  /* Each caller's calls in their order; equal callers are told apart by what they pass. */
  qsort(left->calls, call_count, sizeof calls[0], by_caller);
}

static struct left scalar, vector;

static int same(void) {
  int same = scalar.call_count == vector.call_count &&
             memcmp(scalar.calls, vector.calls, scalar.call_count * sizeof calls[0]) == 0;
  for (size_t k = 0; k < scalar.buffer_count; k++) {
    same &= equal(&scalar.buffers[k], &vector.buffers[k]);
    munmap(scalar.buffers[k].base, scalar.buffers[k].inner + 2 * page);
    munmap(vector.buffers[k].base, vector.buffers[k].inner + 2 * page);
  }
  return same;
}

int main(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
  for (size_t k = 0; k < sizeof signals / sizeof signals[0]; k++) signal(signals[k], died);
  int wrong = 0;
  for (size_t k = 0; k < case_count; k++) {
    const struct test *test = &cases[k];
    running = test->name;
    uint64_t counts[] = {0, 1, test->count / 2, test->count};
    int differs = 0;
    for (size_t c = 0; c < 4; c++)
      for (int at_end = 0; at_end < 2; at_end++) {
        run(test, test->scalar, counts[c], at_end, &scalar);
        run(test, test->vector, counts[c], at_end, &vector);
        differs |= !same();
      }
    if (differs) printf("%s: another result than the scalar program\n", test->name);
    wrong += differs;
  }
  printf("%zu kernels, %d wrong\n", case_count, wrong);
  return wrong != 0;
}
