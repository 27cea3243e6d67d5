//@ group Lane operations
//@ construct `barrier`, `work_group_barrier` where work-items of a group part
//@ happens refused
//@ refused only some of them come to this barrier
//@ function kernel_
//@ args buffer:600=small, buffer:600=zero
//@ range 0..50
kernel void kernel_(global int *a, local int *t) {
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  if (l & 1) barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[l ^ 1];
}
