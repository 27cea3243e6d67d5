//@ group Lane operations
//@ construct a `return` of some work-items before a barrier
//@ happens accepted with a warning: they take no part in what follows; refused with `--strict-barriers`
//@ function kernel_
//@ args buffer:600=small, buffer:600=zero, uniform=40
//@ range 0..50
kernel void kernel_(global int *a, local int *t, int n) {
  int l = get_local_id(0);
  t[l] = 0;
  if (get_global_id(0) >= n) return;
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[l ^ 1];
}
