//@ group Lane operations
//@ construct `work_group_reduce_…`, `scan_…`, `broadcast`, `any`, `all`, `async_work_group_copy`, `async_work_group_strided_copy`, `wait_group_events`, `prefetch`
//@ happens computed once for a group, between two cuts, in the order of work-items
//@ function kernel_
//@ args buffer:600=small, buffer:600=zero
//@ range 0..50
int __attribute__((overloadable, convergent)) work_group_reduce_add(int);
kernel void kernel_(global int *a, local int *t) {
  int l = get_local_id(0);
  event_t e = async_work_group_copy(t, a, 50, 0);
  wait_group_events(1, &e);
  int x = t[l ^ 1];
  a[get_global_id(0)] = work_group_reduce_add(x) + x;
}
