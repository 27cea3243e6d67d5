//@ group Lane operations
//@ construct `barrier`, `work_group_barrier`, `__syncthreads` that all work-items of a group reach, in loops and helpers, too
//@ happens cut into regions that a driver runs one after the other over the work-items of a group, in vectors
//@ function kernel_
//@ args buffer:600=small, buffer:600=zero
//@ range 0..50
kernel void kernel_(global int *a, local int *t) {
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  for (int i = 0; i < 3; i++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = t[l ^ 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = x + i;
  }
  a[get_global_id(0)] = t[l];
}
