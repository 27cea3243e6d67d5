/* Runs kernels by the definition of OpenCL: each work-item of a group has a stack of its own and runs to its next
   barrier; then the next work-item runs, in an order that changes. */
#define _XOPEN_SOURCE 700
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK = 1 << 16, MOST = 1024 };
static ucontext_t items[MOST], scheduler;
static char *stacks[MOST];
static int ended[MOST];
static unsigned current;
static uint64_t local_id[MOST][3], group_of[3], local_of[3], size_of[3];

typedef void kernel_function(const int *, int *, int, int *);
static kernel_function *kernel;
static const int *in_of;
static int *out_of, *tmp_of, n_of;

uint64_t _Z12get_local_idj(unsigned d) { return d < 3 ? local_id[current][d] : 0; }
uint64_t _Z12get_group_idj(unsigned d) { return d < 3 ? group_of[d] : 0; }
uint64_t _Z14get_local_sizej(unsigned d) { return d < 3 ? local_of[d] : 1; }
uint64_t _Z15get_global_sizej(unsigned d) { return d < 3 ? size_of[d] : 1; }
uint64_t _Z13get_global_idj(unsigned d) { return d < 3 ? group_of[d] * local_of[d] + local_id[current][d] : 0; }
void _Z7barrierj(unsigned flags) { (void)flags; swapcontext(&items[current], &scheduler); }
int _Z10atomic_addPU7CLlocalVii(volatile int *p, int x) { int old = *p; *p = old + x; return old; }
int _Z10atomic_addPU8CLglobalVii(volatile int *p, int x) { int old = *p; *p = old + x; return old; }
int _Z9atomic_orPU7CLlocalVii(volatile int *p, int x) { int old = *p; *p = old | x; return old; }
int _Z3maxii(int a, int b) { return a > b ? a : b; }

static void item(void) {
  kernel(in_of, out_of, n_of, tmp_of);
  ended[current] = 1;
}

void run_reference(kernel_function *k, const uint64_t size[3], const uint64_t local[3], const int *in, int *out,
                   int n, int *tmp) {
  kernel = k, in_of = in, out_of = out, tmp_of = tmp, n_of = n;
  memcpy(size_of, size, sizeof size_of);
  memcpy(local_of, local, sizeof local_of);
  unsigned count = local[0] * local[1] * local[2], random = 12345;
  for (uint64_t z = 0; z < size[2] / local[2]; z++)
    for (uint64_t y = 0; y < size[1] / local[1]; y++)
      for (uint64_t x = 0; x < size[0] / local[0]; x++) {
        group_of[0] = x, group_of[1] = y, group_of[2] = z;
        for (unsigned i = 0; i < count; i++) {
          local_id[i][0] = i % local[0], local_id[i][1] = i / local[0] % local[1], local_id[i][2] = i / local[0] / local[1];
          if (!stacks[i]) stacks[i] = malloc(STACK);
          getcontext(&items[i]);
          items[i].uc_stack.ss_sp = stacks[i], items[i].uc_stack.ss_size = STACK, items[i].uc_link = &scheduler;
          makecontext(&items[i], item, 0);
          ended[i] = 0;
        }
        for (int some = 1; some;) {
          some = 0;
          random = random * 1664525u + 1013904223u;
          for (unsigned k = 0, at = random % count; k < count; k++, at = (at + 1) % count)
            if (!ended[at]) {
              current = at;
              swapcontext(&scheduler, &items[at]);
              some |= !ended[at];
            }
        }
      }
}
