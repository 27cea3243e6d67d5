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
uint64_t _Z14get_num_groupsj(unsigned d) { return d < 3 ? size_of[d] / local_of[d] : 1; }
uint64_t _Z13get_global_idj(unsigned d) { return d < 3 ? group_of[d] * local_of[d] + local_id[current][d] : 0; }
void _Z7barrierj(unsigned flags) { (void)flags; swapcontext(&items[current], &scheduler); }
int _Z10atomic_addPU7CLlocalVii(volatile int *p, int x) { int old = *p; *p = old + x; return old; }
int _Z10atomic_addPU8CLglobalVii(volatile int *p, int x) { int old = *p; *p = old + x; return old; }
#define UPDATE(name, type, new) \
  type name(volatile type *p, type x) { type old = *p; *p = new; return old; }
#define STEP(name, type, new) \
  type name(volatile type *p) { type old = *p; *p = new; return old; }
UPDATE(_Z10atomic_subPU7CLlocalVii, int, old - x)
UPDATE(_Z10atomic_andPU7CLlocalVii, int, old & x)
UPDATE(_Z9atomic_orPU7CLlocalVii, int, old | x)
UPDATE(_Z10atomic_xorPU7CLlocalVii, int, old ^ x)
UPDATE(_Z10atomic_minPU7CLlocalVii, int, old < x ? old : x)
UPDATE(_Z10atomic_maxPU7CLlocalVii, int, old > x ? old : x)
UPDATE(_Z10atomic_minPU7CLlocalVjj, unsigned, old < x ? old : x)
UPDATE(_Z10atomic_maxPU7CLlocalVjj, unsigned, old > x ? old : x)
UPDATE(_Z11atomic_xchgPU7CLlocalVii, int, x)
STEP(_Z10atomic_incPU7CLlocalVi, int, old + 1)
STEP(_Z10atomic_incPU7CLlocalVj, unsigned, old + 1)
STEP(_Z10atomic_decPU7CLlocalVi, int, old - 1)
unsigned _Z14atomic_cmpxchgPU7CLlocalVjjj(volatile unsigned *p, unsigned expected, unsigned x) {
  unsigned old = *p;
  if (old == expected) *p = x;
  return old;
}

int _Z5mad24iii(int a, int b, int c) { return (int)((unsigned)a * (unsigned)b + (unsigned)c); }

/* What work-items compute together: each leaves its value and waits. */
typedef union { int i; float f; } value;
static value values[MOST];
static void meet(value x) {
  values[current] = x;
  _Z7barrierj(1);
}
static unsigned count_of(void) { return (unsigned)(local_of[0] * local_of[1] * local_of[2]); }
static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }
static int umost(int a, int b) { return (unsigned)a > (unsigned)b ? a : b; }
static int sum(int a, int b) { return a + b; }
static int either(int a, int b) { return a | b; }
static int both(int a, int b) { return a & b; }
static int over(int x, int (*op)(int, int), int start, unsigned end) {
  meet((value){.i = x});
  for (unsigned k = 0; k < end; k++) start = op(start, values[k].i);
  _Z7barrierj(1);
  return start;
}
static float over_reals(float x, float start, unsigned end) {
  meet((value){.f = x});
  for (unsigned k = 0; k < end; k++) start += values[k].f;
  _Z7barrierj(1);
  return start;
}
int _Z21work_group_reduce_addi(int x) { return over(x, sum, 0, count_of()); }
int _Z21work_group_reduce_mini(int x) { return over(x, least, 0x7fffffff, count_of()); }
int _Z21work_group_reduce_maxj(int x) { return over(x, umost, 0, count_of()); }
int _Z29work_group_scan_inclusive_addi(int x) { return over(x, sum, 0, current + 1); }
int _Z29work_group_scan_exclusive_addi(int x) { return over(x, sum, 0, current); }
int _Z29work_group_scan_inclusive_maxi(int x) { return over(x, most, -0x7fffffff - 1, current + 1); }
int _Z29work_group_scan_exclusive_mini(int x) { return over(x, least, 0x7fffffff, current); }
int _Z14work_group_anyi(int x) { return over(x != 0, either, 0, count_of()); }
int _Z14work_group_alli(int x) { return over(x != 0, both, 1, count_of()); }
float _Z21work_group_reduce_addf(float x) { return over_reals(x, -0.0f, count_of()); }
float _Z29work_group_scan_exclusive_addf(float x) { return over_reals(x, 0.0f, current); }
int _Z20work_group_broadcastim(int x, uint64_t from) {
  meet((value){.i = x});
  x = values[from].i;
  _Z7barrierj(1);
  return x;
}

/* Sub-groups: LANES neighbours in a row of a group. */
#ifndef LANES
#define LANES 1
#endif
static unsigned in_row(void) { return local_id[current][0] % LANES; }
static unsigned first_of_sub_group(void) { return current - in_row(); }
unsigned _Z18get_sub_group_sizev(void) {
  unsigned left = local_of[0] - (local_id[current][0] - in_row());
  return left < LANES ? left : LANES;
}
static unsigned in_each_row(void) { return (local_of[0] + LANES - 1) / LANES; }
unsigned _Z22get_sub_group_local_idv(void) { return in_row(); }
unsigned _Z16get_sub_group_idv(void) {
  return (local_id[current][2] * local_of[1] + local_id[current][1]) * in_each_row() + local_id[current][0] / LANES;
}
unsigned _Z18get_num_sub_groupsv(void) { return local_of[1] * local_of[2] * in_each_row(); }
static int over_lanes(int x, int (*op)(int, int), int start, unsigned end) {
  meet((value){.i = x});
  for (unsigned k = 0; k < end; k++) start = op(start, values[first_of_sub_group() + k].i);
  _Z7barrierj(1);
  return start;
}
int _Z20sub_group_reduce_addi(int x) { return over_lanes(x, sum, 0, _Z18get_sub_group_sizev()); }
int _Z20sub_group_reduce_mini(int x) { return over_lanes(x, least, 0x7fffffff, _Z18get_sub_group_sizev()); }
int _Z20sub_group_reduce_maxi(int x) { return over_lanes(x, most, -0x7fffffff - 1, _Z18get_sub_group_sizev()); }
int _Z28sub_group_scan_inclusive_addi(int x) { return over_lanes(x, sum, 0, in_row() + 1); }
int _Z28sub_group_scan_exclusive_addi(int x) { return over_lanes(x, sum, 0, in_row()); }
int _Z13sub_group_anyi(int x) { return over_lanes(x != 0, either, 0, _Z18get_sub_group_sizev()); }
int _Z13sub_group_alli(int x) { return over_lanes(x != 0, both, 1, _Z18get_sub_group_sizev()); }
int _Z19sub_group_broadcastij(int x, unsigned from) {
  meet((value){.i = x});
  x = values[first_of_sub_group() + from].i;
  _Z7barrierj(1);
  return x;
}

static void copied(void *to, uint64_t to_by, const void *from, uint64_t from_by, uint64_t count, uint64_t bytes) {
  _Z7barrierj(1);
  if (current == 0)
    for (uint64_t k = 0; k < count; k++)
      memcpy((char *)to + k * to_by * bytes, (const char *)from + k * from_by * bytes, bytes);
}
void *_Z21async_work_group_copyPU7CLlocaliPU8CLglobalKim9ocl_event(int *to, const int *from, uint64_t count, void *e) {
  copied(to, 1, from, 1, count, sizeof(int));
  return e;
}
void *_Z21async_work_group_copyPU8CLglobalDv2_iPU7CLlocalKS_m9ocl_event(void *to, const void *from, uint64_t count,
                                                                         void *e) {
  copied(to, 1, from, 1, count, 2 * sizeof(int));
  return e;
}
void *_Z29async_work_group_strided_copyPU7CLlocaliPU8CLglobalKimm9ocl_event(int *to, const int *from, uint64_t count,
                                                                             uint64_t by, void *e) {
  copied(to, 1, from, by, count, sizeof(int));
  return e;
}
void _Z17wait_group_eventsiPU9CLgeneric9ocl_event(int count, void *events) {
  (void)count, (void)events;
  _Z7barrierj(1);
}
void _Z8prefetchPU8CLglobalKim(const int *from, uint64_t count) { (void)from, (void)count; }

int _Z3maxii(int a, int b) { return a > b ? a : b; }
int _Z3minii(int a, int b) { return a < b ? a : b; }
int _Z5clampiii(int x, int least, int most) { return x < least ? least : x > most ? most : x; }
void _Z9mem_fencej(unsigned flags) { (void)flags; }
void _Z14read_mem_fencej(unsigned flags) { (void)flags; }
void _Z15write_mem_fencej(unsigned flags) { (void)flags; }

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
