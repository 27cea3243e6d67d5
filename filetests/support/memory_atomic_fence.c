//@ group Memory
//@ construct C's atomics: `atomic_fetch_add`, `atomic_compare_exchange`, `atomic_exchange`, `atomic_thread_fence`
//@ happens per lane, in lane order; fences once
//@ args index, varying:4=small, buffer:8=zero
//@ range 0..50
//@ contains atomicrmw
#include <stdatomic.h>
void kernel(int i, int x, atomic_int *p) {
  atomic_fetch_add(p, x);
  atomic_thread_fence(memory_order_seq_cst);
  int seen = i - 1;
  atomic_compare_exchange_strong(p + 1, &seen, i);
}
