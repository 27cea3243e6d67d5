/* Compares kernels that warpline made with the reference. */
#include "kernels.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void kernel_function(const int *, int *, int, int *);
typedef void made(const uint64_t *, const uint64_t *, const uint64_t *, const int *, int *, int, uint64_t, void *);
typedef void shared(warpline_for_each, void *, const uint64_t *, const uint64_t *, const uint64_t *, const int *, int *,
                    int, uint64_t);
typedef uint64_t needed(const uint64_t *, const uint64_t *, uint64_t);
void run_reference(kernel_function *, const uint64_t *, const uint64_t *, const int *, int *, int, int *);

#define KERNEL(name) kernel_function name;
#include "list.h"
#undef KERNEL
#define KERNEL(name) {#name, name, (made *)name##_ndrange, (shared *)name##_parallel, (needed *)name##_workspace},
static const struct {
  const char *name;
  kernel_function *kernel;
  made *run;
  shared *share;
  needed *workspace;
} kernels[] = {
#include "list.h"
};

enum { MOST = 1 << 13 };
static int in[MOST], expected[MOST], found[MOST], tmp[4 * 1024 + 64];

/* Threads that share groups: each takes every third part, and parts have one to three groups. */
enum { THREADS = 3 };
typedef struct { uint64_t count, number; warpline_part part; void *context, *workspace; } worker;

static void *work(void *of) {
  const worker *w = of;
  for (uint64_t first = 0, parts = 0; first < w->count; parts++) {
    uint64_t last = first + 1 + first % 3;
    if (parts % THREADS == w->number) w->part(w->context, first, last < w->count ? last : w->count, w->workspace);
    first = last;
  }
  return 0;
}

static void on_threads(void *needed, uint64_t count, warpline_part part, void *context) {
  pthread_t threads[THREADS];
  worker workers[THREADS];
  for (uint64_t t = 0; t < THREADS; t++) {
    workers[t] = (worker){count, t, part, context, malloc(*(uint64_t *)needed)};
    if (pthread_create(&threads[t], 0, work, &workers[t])) abort();
  }
  for (int t = 0; t < THREADS; t++) {
    pthread_join(threads[t], 0);
    free(workers[t].workspace);
  }
}

static int compare(unsigned k, const uint64_t size[3], const uint64_t local[3]) {
  uint64_t offset[3] = {0}, group = local[0] * local[1] * local[2], bytes = 4 * group * sizeof(int) + 64;
  int n = (int)(size[0] * size[1] * size[2]);
  unsigned random = (unsigned)(group * 7 + n);
  for (int i = 0; i < n; i++) in[i] = (int)((random = random * 1664525u + 1013904223u) >> 20) - 1000;
  memset(expected, 0, sizeof expected);
  memset(found, 0, sizeof found);
  run_reference(kernels[k].kernel, size, local, in, expected, n, tmp);
  uint64_t needed = kernels[k].workspace(size, local, bytes);
  char *workspace = malloc(needed + 16);
  memset(workspace, 0x5a, needed + 16);
  kernels[k].run(offset, size, local, in, found, n, bytes, workspace);
  int bad = memcmp(expected, found, sizeof expected) != 0;
  for (int i = 0; i < 16; i++) bad |= workspace[needed + i] != 0x5a;
  free(workspace);
  if (!bad) {
    memset(found, 0, sizeof found);
    kernels[k].share(on_threads, &needed, offset, size, local, in, found, n, bytes);
    bad = memcmp(expected, found, sizeof expected) != 0;
  }
  if (bad) {
    int at = 0;
    while (at < MOST - 1 && expected[at] == found[at]) at++;
    printf("%s: %d work-items in groups of %d x %d x %d: element %d is %d, not %d\n", kernels[k].name, n,
           (int)local[0], (int)local[1], (int)local[2], at, found[at], expected[at]);
  }
  return bad;
}

int main(void) {
  static const uint64_t shapes[][3] = {{1, 1, 1}, {2, 1, 1}, {7, 1, 1}, {8, 1, 1}, {9, 1, 1}, {13, 1, 1}, {16, 1, 1},
    {31, 1, 1}, {64, 1, 1}, {100, 1, 1}, {256, 1, 1}, {4, 3, 1}, {8, 8, 1}, {16, 2, 1}, {5, 3, 2}, {3, 2, 4}};
  int bad = 0;
  for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++)
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      const uint64_t *local = shapes[s];
      int is_plane = !strncmp(kernels[k].name, "plane", 5);
      if (!is_plane && local[1] * local[2] > 1) continue;
      uint64_t size[3] = {local[0] * 4, local[1] * 3, local[2]};
      if (!is_plane) size[1] = 1;
      bad += compare(k, size, local);
    }
  printf("%s\n", bad ? "wrong" : "right");
  return bad != 0;
}
